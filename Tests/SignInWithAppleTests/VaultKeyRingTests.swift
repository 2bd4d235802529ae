import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

@Suite struct VaultKeyRingTests {
    private static let digits = String(repeating: "0a", count: 32)

    @Test(arguments: [
        (digits, [1]), ("  \(digits)\r\n", [1]), ("1 \(digits)", [1]),
        ("# the keys\n\n2 \(digits)\n1\t\(digits.uppercased())\n", [1, 2]),
        ("7 \(digits), 3 \(digits)", [3, 7]),
    ])
    func `keys are read in all common forms`(_ text: String, _ numbers: [Int]) throws {
        #expect(try VaultKeyRing(SecretBytes(text.utf8)).numbers == numbers)
    }

    @Test(arguments: [
        ("", "are empty"), ("# nothing", "are empty"), ("1 \(digits.dropLast())", "line 1"),
        ("1 \(digits)\nx \(digits)", "line 2"), ("0 \(digits)", "line 1"), ("1", "line 1"),
        ("1 \(digits)\n\(digits)", "line 2"), ("1 \(digits)\n1 \(digits)", "two of number 1"),
        ("1 \(digits.dropLast())g", "line 1"), ("1 \(digits) more", "line 1"),
        ("99999999999999999999 \(digits)", "line 1"), ("-1 \(digits)", "line 1"),
    ])
    func `text without keys is refused and not quoted`(
        _ text: String, _ words: String
    ) {
        let error = #expect(throws: StoreError.self) { try VaultKeyRing(SecretBytes(text.utf8)) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("0a0a") == false)
        #expect(error?.kind == .key)
    }
}
