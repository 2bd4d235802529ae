import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

@Suite struct TokenFingerprintTests {
    @Test(arguments: ["", "0123456789a", "0123456789abc", "0123456789aB", "0123456789a ", "éééééé"])
    func `a fingerprint has exactly 12 lowercase hexadecimal digits`(_ text: String) {
        #expect(TokenFingerprint(text) == nil)
    }

    @Test func `the fingerprint equals the one in results`() throws {
        let token = RefreshToken(SecretText("r-1"))
        #expect(try TokenFingerprint(of: token).rawValue == token.text.fingerprint)
    }

    @Test func `a row with any bytes is named in printable ASCII`() {
        let key = VaultRowKey(
            clientID: [0x61, 0x1B, 0x5C], userID: Array(repeating: 0xFF, count: 100),
            fingerprint: [])
        #expect(
            key.description == "token '' of '\(String(repeating: "\\xff", count: 80))…' of "
                + "'a\\x1b\\x5c'")
    }
}
