import SIWACrypto
import SignInWithApple

/// A client_secret before it is signed: good, until a test spoils one thing.
struct SecretDraft {
    var header: [JSON.Member]
    var claims: [JSON.Member]
    /// Turns the signature into what stands behind the second dot.
    var spoilSignature: (P256Signature) -> [UInt8] = \.rawRepresentation
    /// Turns the finished token into what is sent.
    var spoilText: (String) -> String = { $0 }

    init(_ client: String = Stand.app, at now: NumericDate = Stand.start) {
        header = [
            JSON.Member("alg", "ES256"), JSON.Member("kid", .string(Stand.keyID.rawValue)),
        ]
        claims = [
            JSON.Member("iss", .string(Stand.team.rawValue)),
            JSON.Member("iat", .integer(now.seconds - 60)),
            JSON.Member("exp", .integer(now.seconds + 300)),
            JSON.Member("aud", "https://appleid.apple.com"),
            JSON.Member("sub", .string(client)),
        ]
    }

    /// Replaces one claim, or drops it.
    mutating func claim(_ name: String, _ value: JSON?) {
        claims.removeAll { $0.name == name }
        if let value { claims.append(JSON.Member(name, value)) }
    }

    /// Replaces one member of the header, or drops it.
    mutating func header(_ name: String, _ value: JSON?) {
        header.removeAll { $0.name == name }
        if let value { header.append(JSON.Member(name, value)) }
    }

    func minted(by key: P256PrivateKey) throws -> String {
        let token = try CompactJWS.sign(header: .object(header), payload: .object(claims)) {
            spoilSignature(try key.signature(for: $0))
        }
        return spoilText(SecretText(token).revealed())
    }
}
