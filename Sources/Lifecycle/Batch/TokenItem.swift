package import JOSE
package import SIWACrypto

/// An item of a batch: a token, and what its result is known by.
package struct TokenItem: Sendable {
    /// Its line in the input, from 1.
    package let line: Int
    /// What the input calls it: a string or a number; nil when it was a bare token.
    package let id: JSON?
    /// The token.
    package let token: SecretText
    /// The client it belongs to; nil for the one of the settings.
    package let clientID: ClientID?
    /// Whether an earlier run may have revoked it: then a refresh tells, before it is sent again.
    var isInDoubt = false
    /// How far its revocation has come; nil before the first answer.
    var proof: RevocationProof?

    /// A token that is known otherwise than by a line, such as by the user it was stored for.
    ///
    /// - Parameter isInDoubt: whether an earlier run may have revoked it already.
    package init(
        _ token: RefreshToken, line: Int, id: JSON, clientID: ClientID, isInDoubt: Bool
    ) {
        (self.line, self.id, self.token) = (line, id, token.text)
        (self.clientID, self.isInDoubt) = (clientID, isInDoubt)
    }

    /// Reads a line: a bare token, or a JSON object `{"id", "token", "client_id"?}`, whose
    /// other members are ignored.
    ///
    /// - Parameters:
    ///   - tokenNames: what the token's member may be called, `token` first.
    /// - Throws: ``InvalidLine``.
    package init(
        _ text: SecretBytes, line: Int, tokenNames: [String] = ["token"]
    ) throws(InvalidLine) {
        let content = try ItemLine(text)
        self.line = line
        id = content.id
        token = try content.token(called: tokenNames)
        clientID = try content.clientID()
    }
}
