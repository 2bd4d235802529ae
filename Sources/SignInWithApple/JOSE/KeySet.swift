public import SIWACrypto

/// A JWK Set (RFC 7517 §5): Apple's public keys, chosen by `kid`, never by order.
public struct KeySet: Sendable {
    /// The usable keys by their `kid`.
    public let keys: [String: RSAPublicKey]

    /// Reads a JWK Set; keys that cannot verify RS256 are left out, as RFC 7517 §5 advises.
    ///
    /// Nil when it is no JWK Set, or holds no usable key: an empty set would condemn
    /// every token.
    public init?(_ body: [UInt8]) {
        guard let keys = try? JSON(body)["keys"]?.elements else { return nil }
        self.keys = Dictionary(
            keys.compactMap(Self.entry), uniquingKeysWith: { first, _ in first })
        if self.keys.isEmpty { return nil }
    }

    private static func entry(_ key: JSON) -> (String, RSAPublicKey)? {
        guard key["kty"] == "RSA", key["use"] ?? "sig" == "sig", key["alg"] ?? "RS256" == "RS256",
            let id = key["kid"]?.string, let n = key["n"]?.string, let e = key["e"]?.string,
            let modulus = try? Base64URL.decode(n), let exponent = try? Base64URL.decode(e),
            let publicKey = try? RSAPublicKey(modulus: modulus, exponent: exponent)
        else { return nil }
        return (id, publicKey)
    }
}
