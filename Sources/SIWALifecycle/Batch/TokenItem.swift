package import SIWACrypto
package import SIWAJOSE

/// An item of a batch: a token, and the id of its result.
package struct TokenItem: Sendable {
    /// Its line in the input, from 1.
    package let line: Int
    /// The id of the item in the input: a string or a number; nil for a bare token.
    package let id: JSON?
    /// The refresh token to refresh or to revoke.
    package let token: SecretText
    /// The client it belongs to; nil for the one of the settings.
    package let clientID: ClientID?
    /// How a token that is to be revoked looks.
    package let look: TokenLook
    /// Whether an earlier run may have revoked it: then it is refreshed first to find out.
    var isInDoubt = false
    /// How far its revocation has come; nil before the first answer.
    var proof: RevocationProof?

    /// Creates an item that does not come from a line, such as a stored token.
    ///
    /// - Parameter isInDoubt: whether an earlier run may have revoked it already.
    package init(
        _ token: RefreshToken, _ look: TokenLook, line: Int, id: JSON, clientID: ClientID,
        isInDoubt: Bool
    ) {
        (self.line, self.id, self.token) = (line, id, token.text)
        (self.clientID, self.isInDoubt, self.look) = (clientID, isInDoubt, look)
    }

    /// Reads a line: a bare token, or a JSON object `{"id", "token", "client_id"?}`, whose
    /// other members are ignored.
    ///
    /// - Parameters:
    ///   - tokenNames: what the token's member may be called, `token` first.
    ///   - kind: of a token that is to be revoked, and therefore judged; see ``judgeRevocable(_:as:)``.
    /// - Throws: ``InvalidLine``.
    package init(
        _ text: SecretBytes, line: Int, tokenNames: [String] = ["token"],
        judgedAs kind: TokenKind? = nil
    ) throws(InvalidLine) {
        let content = try ItemLine(text)
        self.line = line
        id = content.id
        token = try content.token(called: tokenNames)
        clientID = try content.clientID()
        guard let kind else {
            look = .usual
            return
        }
        do throws(OpaqueTokenError) {
            look = try judgeRevocable(token, as: kind)
        } catch {
            throw InvalidLine(id, "the token \(error)")
        }
    }
}
