import SIWALifecycle
import Testing

@Suite struct RevocableTokenTests {
    private static let rest = "00112233445566778899aabbccddeeff.0.rsyz.AbCdEfGhIjKlMnOpQr-_01"

    @Test func `a recorded shape is usual for its own kind only`() throws {
        #expect(try judgeRevocable(SecretText("r" + Self.rest), as: .refreshToken) == .usual)
        #expect(try judgeRevocable(SecretText("a" + Self.rest), as: .accessToken) == .usual)
        let others: [(String, TokenKind, TokenSlip?)] = [
            ("a" + Self.rest, .refreshToken, .accessToken),
            ("r" + Self.rest, .accessToken, .refreshToken),
            ("c" + Self.rest, .refreshToken, .code),
            ("token.txt", .refreshToken, .fileName),
            ("/run/secrets/token", .refreshToken, .fileName),
            ("001234.00112233445566778899aabbccddeeff.0910", .refreshToken, .userID),
            ("rTOKEN", .refreshToken, nil),
        ]
        for (text, kind, slip) in others {
            #expect(try judgeRevocable(SecretText(text), as: kind) == .unusual(slip), "\(text)")
        }
    }

    @Test func `every part of the shape counts`() throws {
        let usual = Array(("r" + Self.rest).utf8)
        for place in usual.indices {
            var text = usual
            // No part but the last has a tilde, and no part is shorter.
            text[place] = UInt8(ascii: "~")
            let replaced = String(decoding: text, as: UTF8.self)
            #expect(try judgeRevocable(SecretText(replaced), as: .refreshToken).isUnusual)
            text.remove(at: place)
            let shortened = String(decoding: text, as: UTF8.self)
            let isShard = (36..<40).contains(place)
            #expect(
                try judgeRevocable(SecretText(shortened), as: .refreshToken).isUnusual != isShard,
                "without \(place)")
        }
    }

    @Test func `missing values and other characters are not tokens`() {
        for word in ["null", "NULL", "undefined", "None", "nil", "N/A", "NaN", "\\N"] {
            #expect(throws: OpaqueTokenError.placeholder(word)) {
                try judgeRevocable(SecretText(word), as: .refreshToken)
            }
        }
        let allowed = Set("-._~+/".utf8)
        for byte in UInt8(0x21)...0x7E {
            let symbol = Unicode.Scalar(byte)
            guard !symbol.properties.isAlphabetic, !("0"..."9").contains(symbol),
                !["\"", "'"].contains(symbol), !allowed.contains(byte)
            else { continue }
            for text in ["\(symbol)r0", "r\(symbol)0"] {
                #expect(throws: OpaqueTokenError.symbol(symbol), "\(text)") {
                    try judgeRevocable(SecretText(text), as: .refreshToken)
                }
            }
        }
        #expect(throws: OpaqueTokenError.symbol("=")) {
            try judgeRevocable(SecretText("=="), as: .refreshToken)
        }
        #expect(throws: OpaqueTokenError.jwt) {
            try judgeRevocable(SecretText("eyJ0"), as: .refreshToken)
        }
    }

    @Test func `equals signs are allowed only at the end`() throws {
        #expect(try judgeRevocable(SecretText("rAB=="), as: .refreshToken).isUnusual)
        #expect(throws: OpaqueTokenError.symbol("=")) {
            try judgeRevocable(SecretText("r=AB"), as: .refreshToken)
        }
    }

    @Test func `the likely mistake is named`() {
        let slips: [(String, String)] = [
            ("null", "unset variable"), ("$TOKEN", "not expanded"), ("u1,rTOKEN", "CSV"),
            ("C:token", "'@'"), ("token=r", "NAME=VALUE"),
        ]
        for (text, slip) in slips {
            do throws(OpaqueTokenError) {
                _ = try judgeRevocable(SecretText(text), as: .refreshToken)
                Issue.record("\(text) was accepted")
            } catch {
                #expect(error.description.firstRange(of: slip) != nil, "\(error)")
            }
        }
    }
}
