internal import SIWACrypto
package import SIWALifecycle
internal import SIWAVaultRecords

/// A request to exchange a code, as the journal compares it with earlier ones.
package struct CodeRequest: Hashable, Sendable {
    /// The SHA-256 of the code.
    package let code: CodeDigest
    /// The client whose profile exchanges the code.
    package let clientID: ClientID
    /// Whether the caller named the client; if not, a repetition uses the client of the first
    /// request.
    package let isClientGiven: Bool
    /// The SHA-256 of the parameters that are equal in every repetition: `code_verifier`,
    /// `redirect_uri`, `nonce` and `store`. An absent value equals only an absent value.
    package let parameters: [UInt8]
    /// Whether only the answer to a request with the same parameters can be used; a revocation uses
    /// the answer to any request with its code.
    package let requiresSameParameters: Bool

    /// Creates a request.
    package init(
        _ code: AuthorizationCode, clientID: ClientID, isClientGiven: Bool,
        verifier: CodeVerifier?, redirectURI: String?, nonce: String?, isStoring: Bool = true,
        requiresSameParameters: Bool = true
    ) throws(StoreError) {
        self.code = try CodeDigest(of: code)
        (self.clientID, self.isClientGiven) = (clientID, isClientGiven)
        self.requiresSameParameters = requiresSameParameters
        var text: [UInt8] = []
        for value in [verifier?.text.revealed(), redirectURI, nonce] {
            text += Array((value.map { "\($0.utf8.count):\($0)" } ?? "-").utf8)
        }
        if !isStoring { text += Array("not stored".utf8) }
        parameters = try sha256(text)
    }
}

/// The SHA-256 of a code, which the journal stores in place of the code.
package struct CodeDigest: Hashable, Sendable {
    /// 32 bytes.
    package let bytes: [UInt8]

    /// A digest that was computed before.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Computes the digest.
    ///
    /// - Throws: ``StoreError`` if OpenSSL provides no SHA-256.
    package init(of code: AuthorizationCode) throws(StoreError) {
        bytes = try sha256(code.text.bytes.revealed())
    }
}

private func sha256(_ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
    do {
        return try SHA256.digest(bytes.span)
    } catch {
        throw StoreError(.key, "OpenSSL provides no SHA-256: \(error)")
    }
}
