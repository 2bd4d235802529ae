import SIWACrypto
import SIWALifecycle
import SIWATestSupport
import Testing

@Suite struct OpaqueTokenTests {
    @Test func `every byte except printable ASCII is refused at every position`() {
        let token = Array("r00112233.0.abcd.wxyz".utf8)
        for byte in UInt8.min...UInt8.max {
            let isGood = (0x21...0x7E).contains(byte) && byte != 0x22 && byte != 0x27
            for place in [0, 7, token.count] {
                var text = token
                text.insert(byte, at: place)
                let isAccepted = (try? validateOpaqueToken(SecretText(SecretBytes(text)))) != nil
                #expect(isAccepted == isGood, "byte \(byte) at \(place)")
            }
        }
    }

    @Test func `the first invalid character is named`() {
        let rows: [(String, OpaqueTokenError)] = [
            ("r0\u{FEFF}", .character("\u{FEFF}")), ("\u{A0}r0", .character("\u{A0}")),
            ("r\u{200B}0", .character("\u{200B}")), ("ré", .character("é")),
            ("r\u{1F511}", .character("\u{1F511}")), ("r 0\u{FEFF}", .spaceOrControl),
            ("r\n", .spaceOrControl),
            ("r\u{7F}", .spaceOrControl), ("\"r0\"", .quotationMark), ("'r0'", .quotationMark),
            ("eyJ.e30.AA", .jwt), ("", .empty),
        ]
        for (text, expected) in rows {
            #expect(throws: expected) { try validateOpaqueToken(SecretText(text)) }
        }
    }

    @Test func `text that is not UTF-8 is refused at its first invalid byte`() {
        for bytes: [UInt8] in [[0x72, 0xFF], [0xC3], [0x72, 0xE2, 0x80], [0x80, 0x72]] {
            let first = bytes.first { $0 > 0x7E } ?? 0
            #expect(throws: OpaqueTokenError.byte(first)) {
                try validateOpaqueToken(SecretText(SecretBytes(bytes)))
            }
        }
    }
}
