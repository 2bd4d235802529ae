internal import SIWAJOSE
internal import SIWALifecycle

/// The faults in the header of a client_secret.
struct HeaderFindings {
    let all: [Finding]

    init(_ header: JSON, _ expected: ExpectedClient) {
        all = Self.algorithm(header["alg"]) + Self.keyID(header["kid"], expected)
    }

    private static func algorithm(_ alg: JSON?) -> [Finding] {
        let advice: String
        switch alg?.string {
        case "ES256": return []
        case "E256": advice = "write ES256: the E256 in Apple's documentation is a typing error"
        case "none": advice = "sign it: ES256 with the .p8"
        case let name? where name.hasPrefix("HS"):
            advice = "use ES256, and give the .p8 to the library as a key, not as a password"
        case let name? where name.hasPrefix("RS") || name.hasPrefix("PS"):
            advice = "use ES256: RS256 is what Apple signs identity tokens with"
        default: advice = "set alg to ES256"
        }
        let found = alg.map { $0.string.map(quoted) ?? $0.kind } ?? "missing"
        return [
            Finding(.wrongAlgorithm, seen: "alg is \(found), must be 'ES256'", advice: advice)
        ]
    }

    private static func keyID(_ kid: JSON?, _ expected: ExpectedClient) -> [Finding] {
        guard let found = kid?.string else {
            return [
                Finding(
                    .missingMember, seen: "kid is \(kid?.kind ?? "missing from the header")",
                    advice: "put the Key ID into the header, not among the claims")
            ]
        }
        if let finding = ShapeFinding(of: found, in: "kid (Key ID)", as: KeyID.self) {
            return [finding.it]
        }
        // A Team ID here is a finding of its own (`NameFindings`).
        guard let keyID = expected.keyID, !keyID.rawValue.isExactly(found),
            expected.teamID?.rawValue != found
        else { return [] }
        return [
            Finding(
                .wrongKeyID, .error, .likely, seen: "kid is \(quoted(found)), not \(keyID)",
                advice: "set kid to the ID of the key that signs; the .p8 file's name contains it")
        ]
    }
}

/// A fault in the spelling of one of Apple's ten-character identifiers.
struct ShapeFinding {
    let it: Finding

    /// Nil if the text may be such an identifier.
    init?<ID: Identifier>(of text: String, in member: String, as: ID.Type) {
        let trimmed = String(decoding: UnwrappedText(Array(text.utf8)).bytes, as: UTF8.self)
        if !trimmed.isExactly(text), ID.fault(in: trimmed) == nil {
            it = Finding(
                .blanks, seen: "\(member) has spaces or quotation marks around it",
                advice: "write \(trimmed) alone")
        } else if ID.fault(in: text) != nil {
            it = Finding(
                .malformedID, seen: "\(member) is \(quoted(text))",
                advice: "it must be the ten letters and digits of Apple's developer portal")
        } else if text != text.uppercased() {
            it = Finding(
                .lowerCase, seen: "\(member) is \(quoted(text))",
                advice: "write it in capitals, as Apple does: \(text.uppercased())")
        } else {
            return nil
        }
    }
}
