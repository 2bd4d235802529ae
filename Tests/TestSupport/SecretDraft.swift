package import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle

/// A client_secret before it is signed: good, until a test spoils one thing.
package struct SecretDraft: Sendable {
    /// The JOSE header.
    package var header: [JSON.Member]
    /// The claims.
    package var claims: [JSON.Member]
    /// Converts the signature to the text after the second dot.
    package var spoilSignature: @Sendable (P256Signature) -> [UInt8] = { $0.rawRepresentation }
    /// Converts the finished token to what is sent.
    package var spoilText: @Sendable (String) -> String = { $0 }

    /// A good secret of `client`, five minutes long.
    package init(_ client: String, of team: TeamID, under keyID: KeyID, at now: NumericDate) {
        header = [JSON.Member("alg", "ES256"), JSON.Member("kid", .string(keyID.rawValue))]
        claims = [
            JSON.Member("iss", .string(team.rawValue)),
            JSON.Member("iat", .integer(now.seconds - 60)),
            JSON.Member("exp", .integer(now.seconds + 300)),
            JSON.Member("aud", "https://appleid.apple.com"),
            JSON.Member("sub", .string(client)),
        ]
    }

    /// Replaces one claim, or drops it.
    package mutating func claim(_ name: String, _ value: JSON?) {
        claims.removeAll { $0.name == name }
        if let value { claims.append(JSON.Member(name, value)) }
    }

    /// Replaces one member of the header, or drops it.
    package mutating func header(_ name: String, _ value: JSON?) {
        header.removeAll { $0.name == name }
        if let value { header.append(JSON.Member(name, value)) }
    }

    /// Signs it without changes.
    package func minted(by key: P256PrivateKey) throws -> String {
        let token = try CompactJWS.sign(header: .object(header), payload: .object(claims)) {
            spoilSignature(try key.signature(for: $0))
        }
        return spoilText(SecretText(token).revealed())
    }
}

extension P256Signature {
    /// The signature in DER, as OpenSSL writes it by default.
    package var derRepresentation: [UInt8] {
        func number(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            let trimmed = Array(bytes.drop { $0 == 0 })
            let padded = (trimmed.first ?? 0) < 0x80 ? trimmed : [0] + trimmed
            return [0x02, UInt8(padded.count)] + padded
        }
        let body = number(rawRepresentation[..<32]) + number(rawRepresentation[32...])
        return [0x30, UInt8(body.count)] + body
    }
}
