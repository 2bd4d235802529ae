public import SIWACrypto

/// One line of a batch: an identity token, and what it must belong to.
public struct IdentityTokenItem: Sendable {
    /// Its line in the input, from 1.
    public let line: Int
    /// What the input calls it: a string or a number; nil when it was a bare token.
    public let id: JSON?
    /// The token.
    public let token: SecretText
    /// The client it must be for; nil for those of the settings.
    public let clientID: ClientID?
    /// The moment as of which to judge it; nil for the one of the settings.
    public let moment: NumericDate?
    /// What else it must belong to.
    public let binding: TokenBinding

    /// Reads a line: a bare token, or a JSON object
    /// `{"id", "token" or "id_token", "client_id"?, "at"?, "nonce"?, "code"?, "access_token"?}`,
    /// whose other members are passed over.
    ///
    /// - Throws: ``InvalidLine``.
    public init(_ text: SecretBytes, line: Int) throws(InvalidLine) {
        let content = try ItemLine(text)
        self.line = line
        id = content.id
        token = try content.token(called: ["token", "id_token"], isJWT: true)
        clientID = try content.clientID()
        moment = try content.moment("at")
        binding = TokenBinding(
            nonce: try content.text("nonce").map { SecretText($0) },
            code: try content.opaque("code").map(AuthorizationCode.init),
            accessToken: try content.opaque("access_token").map(AccessToken.init))
    }
}
