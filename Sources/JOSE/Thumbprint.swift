package import SIWACrypto

extension RSAPublicKey {
    /// The key's JWK thumbprint (RFC 7638): SHA-256, in base64url.
    ///
    /// - Throws: ``OpenSSLError`` when a site's policy has taken SHA-256 away.
    package func thumbprint() throws(OpenSSLError) -> String {
        // The members that make the key, in the order of their names, without white space.
        let members: JSON = [
            "e": .string(Base64URL.encode(exponent)), "kty": "RSA",
            "n": .string(Base64URL.encode(modulus)),
        ]
        return Base64URL.encode(try SHA256.digest(members.text))
    }
}
