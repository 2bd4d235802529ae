package import SIWACrypto

extension RSAPublicKey {
    /// The key's JWK thumbprint (RFC 7638): SHA-256, in base64url.
    ///
    /// - Throws: ``OpenSSLError`` if the system's policy disables SHA-256.
    package func thumbprint() throws(OpenSSLError) -> String {
        // The required members of the key, in the order of their names, without white space.
        let members: JSON = [
            "e": .string(Base64URL.encode(exponent)), "kty": "RSA",
            "n": .string(Base64URL.encode(modulus)),
        ]
        return Base64URL.encode(try SHA256.digest(members.text))
    }
}
