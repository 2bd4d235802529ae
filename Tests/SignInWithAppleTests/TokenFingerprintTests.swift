import JOSE
import Lifecycle
import SIWACrypto
import TestSupport
import Testing

@Suite struct TokenFingerprintTests {
    @Test(arguments: ["", "0123456789a", "0123456789abc", "0123456789aB", "0123456789a ", "éééééé"])
    func `only 12 lowercase digits are a fingerprint`(_ text: String) {
        #expect(TokenFingerprint(text) == nil)
    }

    @Test func `is the one that results show`() throws {
        let token = RefreshToken(SecretText("r-1"))
        #expect(try TokenFingerprint(of: token).rawValue == token.text.fingerprint)
    }

    @Test func `a row with any bytes is named in printable ASCII`() {
        let key = VaultRowKey(
            clientID: [0x61, 0x1B, 0x5C], userID: Array(repeating: 0xFF, count: 100),
            fingerprint: [])
        #expect(
            key.description == "the record of '\(String(repeating: "\\xff", count: 80))…' of "
                + "'a\\x1b\\x5c'")
    }
}
