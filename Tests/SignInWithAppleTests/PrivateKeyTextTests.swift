import Foundation
import SIWACrypto
import SIWALifecycle
import SIWATestSupport
import Testing

@Suite struct PrivateKeyTextTests {
    static let apple = keyFile("apple")
    static let sec1 = keyFile("sec1")
    static let body = apple.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n")
    static let sec1Body = sec1.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n")

    static let readable: [Row<(String, [PrivateKeyText.Repair])>] = [
        Row("as Apple gives it", (apple, [])), Row("SEC 1", (sec1, [])),
        Row("no last line feed", (String(apple.dropLast()), [])),
        Row("empty lines around it", ("\n\n\(apple)\n\n", [])),
        Row("Windows line ends", (apple.replacing("\n", with: "\r\n"), [.carriageReturns])),
        Row(
            "old Mac line ends", (apple.replacing("\n", with: "\r"), [.carriageReturns, .oneLine])),
        Row("indented", (apple.replacing("\n", with: "\n    "), [.indentation])),
        Row("spaces after the lines", (apple.replacing("\n", with: "  \n"), [.indentation])),
        Row("indented with tabs", (apple.replacing("\n", with: "\n\t"), [.indentation])),
        Row(
            "\\n in place of line feeds", (apple.replacing("\n", with: "\\n"), [.escapedLineFeeds])),
        Row(
            "\\r\\n in place of line ends",
            (apple.replacing("\n", with: "\\r\\n"), [.escapedLineFeeds])),
        Row("\\n and line feeds", (apple.replacing("\n", with: "\\n\n"), [.escapedLineFeeds])),
        Row(
            "all on one line, with spaces",
            (apple.replacing("\n", with: " "), [.indentation, .oneLine])),
        Row("all on one line, without", (apple.replacing("\n", with: ""), [.oneLine])),
        Row("in double quotes", ("\"\(apple)\"", [.quotes])),
        Row("in single quotes", ("'\(apple)'", [.quotes])),
        Row("in both", ("'\"\(apple)\"'", [.quotes])),
        Row(
            "a JSON string",
            ("\"\(apple.replacing("\n", with: "\\n"))\"\n", [.quotes, .escapedLineFeeds])),
        Row("a byte order mark in front", ("\u{FEFF}\(apple)", [.byteOrderMark])),
        Row("no armour", (body, [.missingArmour])),
        Row("no armour, one line", (body.replacing("\n", with: ""), [.missingArmour])),
        Row(
            "no armour, base64url",
            (
                body.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""),
                [.missingArmour]
            )),
        Row(
            "a certificate in front, as a bundle has it",
            ("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n\(sec1)", [])),
        Row("no armour, quoted", ("\"\(body)\"", [.quotes, .missingArmour])),
        Row(
            "no armour, \\n",
            (body.replacing("\n", with: "\\n"), [.escapedLineFeeds, .missingArmour])),
        Row("SEC 1 without armour", (sec1Body, [.missingArmour])),
        Row("base64 of the PEM", (base64(apple), [.base64])),
        Row("base64 of the SEC 1 PEM", (base64(sec1), [.base64])),
        Row("base64 of the PEM, wrapped", (wrapped(base64(apple)), [.base64])),
        Row("base64 of the PEM, quoted", ("\"\(base64(apple))\"", [.quotes, .base64])),
        Row(
            "base64 of a PEM with Windows line ends",
            (
                base64(apple.replacing("\n", with: "\r\n")), [.base64, .carriageReturns]
            )),
        Row(
            "base64 of a quoted PEM with \\n",
            (
                base64("\"\(apple.replacing("\n", with: "\\n"))\""),
                [.base64, .quotes, .escapedLineFeeds]
            )),
        Row(
            "curve parameters in front, as openssl ecparam writes them",
            (
                "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n\(sec1)",
                []
            )),
        Row("a comment in front", ("Key for com.example\n\(apple)", [])),
        Row("a comment after it", ("\(apple)(downloaded in May)\n", [])),
    ]

    @Test(arguments: readable) func `a key in any common form is read`(
        _ row: Row<(String, [PrivateKeyText.Repair])>
    ) throws {
        let text = try PrivateKeyText(SecretBytes(row.value.0.utf8))
        #expect(text.repairs == row.value.1)
        let key = try text.privateKey()
        let expected = try Example.privateKey().publicKey.x963Representation
        #expect(key.publicKey.x963Representation == expected)
    }

    @Test(arguments: [apple, sec1]) func `a key in DER is read`(_ pem: String) throws {
        let body = pem.split(separator: "\n").dropFirst().dropLast().joined()
        let der = try #require(Data(base64Encoded: body))
        let text = try PrivateKeyText(SecretBytes(der))
        #expect(text.repairs == [.binary])
        #expect(text.der.revealed() == [UInt8](der))
        #expect(throws: Never.self) { try text.privateKey() }
    }

    static let unreadable: [Row<(String, String)>] = [
        Row("nothing", ("", "is empty")), Row("spaces", (" \t\r\n", "is empty")),
        Row("empty quotes", ("\"\"", "is empty")),
        Row("a spelled-out line feed", ("\\n", "is empty")),
        Row("encrypted", (keyFile("encrypted"), "is encrypted with a passphrase")),
        Row("encrypted SEC 1", (keyFile("sec1-encrypted"), "is encrypted with a passphrase")),
        Row("encrypted, no armour", (unarmoured("encrypted"), "is encrypted with a passphrase")),
        Row("a public key", (keyFile("public"), "is a public key, not a private key")),
        Row(
            "a public key, no armour", (unarmoured("public"), "is a public key, not a private key")),
        Row("a certificate", (keyFile("certificate"), "is a certificate, not a private key")),
        Row(
            "a certificate, no armour",
            (unarmoured("certificate"), "is a certificate, not a private key")),
        Row(
            "a certificate request",
            (
                keyFile("certificate-request"), "is a certificate request, not a private key"
            )),
        Row("an RSA key", (keyFile("rsa"), "is an RSA key, not a P-256 key")),
        Row("an RSA key, PKCS#1", (keyFile("rsa-traditional"), "is an RSA key, not a P-256 key")),
        Row("an RSA key, no armour", (unarmoured("rsa"), "is an RSA key, not a P-256 key")),
        Row("an RSA-PSS key", (keyFile("rsa-pss"), "is an RSA key, not a P-256 key")),
        Row("P-384", (keyFile("p384"), "is a key on the curve secp384r1, not a P-256 key")),
        Row(
            "secp256k1", (keyFile("secp256k1"), "is a key on the curve secp256k1, not a P-256 key")),
        Row("Ed25519", (keyFile("ed25519"), "is a key of the kind ED25519, not a P-256 key")),
        Row("DSA", (keyFile("dsa"), "is a key of the kind DSA, not a P-256 key")),
        Row("an OpenSSH key", (keyFile("openssh"), "is an SSH key, not a P-256 key")),
        Row(
            "an OpenSSH public key",
            ("ssh-ed25519 AAAAC3Nz test", "is an SSH public key, not a private key")),
        Row("a JWT", ("eyJhbGciOiJFUzI1NiJ9.e30.AA", "is a JWT, not a private key")),
        Row("JSON", (#"{"private_key":"x"}"#, "is JSON, not a private key")),
        Row(
            "a path",
            ("/etc/siwa/AuthKey_K1L2M3N4P5.p8", "is not in a known key format")),
        Row("a word", ("secret", "is not in a known key format")),
        Row(
            "PGP",
            (
                "-----BEGIN PGP MESSAGE-----\n\n-----END PGP MESSAGE-----",
                "is PEM of another kind, not a private key"
            )),
        Row(
            "curve parameters alone",
            (
                "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n",
                "is the parameters of a curve, not a private key"
            )),
        Row("no END line", (String(apple.prefix(200)), "is damaged (its END line is missing)")),
        Row(
            "half a BEGIN line",
            ("-----BEGIN PRIVATE KEY", "is damaged (its BEGIN line has no end)")),
        Row(
            "nothing between the lines",
            (
                "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----",
                "is damaged (no key can be read from it)"
            )),
        Row("a line lost", (lines(apple, without: 2), "is damaged (no key can be read from it)")),
        Row(
            "a character lost",
            (
                apple.replacing("MIGT", with: "MIG"),
                "is damaged (the text between its BEGIN and END lines is not base64)"
            )),
        Row(
            "a foreign character",
            (
                apple.replacing("MIGT", with: "MI*T"),
                "is damaged (the text between its BEGIN and END lines is not base64)"
            )),
        Row(
            "a point of another key",
            (
                apple.replacing("y+5v20t7", with: "y+5v20t8"),
                "has a public half that does not belong to it"
            )),
    ]

    @Test(arguments: unreadable) func `text that is not a usable key is named`(
        _ row: Row<(String, String)>
    ) {
        #expect {
            _ = try PrivateKeyText(SecretBytes(row.value.0.utf8)).privateKey()
        } throws: { error in
            (error as? PrivateKeyError)?.description == row.value.1
        }
    }

    @Test func `every truncated key file is refused or gives the same key`() throws {
        let expected = try Example.privateKey().publicKey.x963Representation
        for count in 0..<Self.apple.utf8.count {
            let part = SecretBytes(Self.apple.utf8.prefix(count))
            guard let key = try? PrivateKeyText(part).privateKey() else { continue }
            #expect(key.publicKey.x963Representation == expected, "\(count) bytes")
        }
    }

    @Test func `1,000 damaged key files cause no crash and never give another key`() throws {
        let expected = try Example.privateKey().publicKey.x963Representation
        var random = SeededRandom(seed: 4)
        let original = Array(Self.apple.utf8)
        for _ in 0..<1000 {
            var bytes = original
            let place = Int.random(in: 0..<bytes.count, using: &random)
            if Bool.random(using: &random) {
                bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            } else {
                bytes.removeSubrange(place..<min(place + 5, bytes.count))
            }
            guard let key = try? PrivateKeyText(SecretBytes(bytes)).privateKey() else { continue }
            #expect(key.publicKey.x963Representation == expected)
        }
    }

    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    private static func wrapped(_ text: String) -> String {
        Data(base64Encoded: text)?.base64EncodedString(options: .lineLength76Characters) ?? ""
    }

    private static func unarmoured(_ name: String) -> String {
        keyFile(name).split(separator: "\n").dropFirst().dropLast().joined(separator: "\n")
    }

    private static func lines(_ text: String, without number: Int) -> String {
        var lines = text.split(separator: "\n")
        lines.remove(at: number)
        return lines.joined(separator: "\n")
    }
}
