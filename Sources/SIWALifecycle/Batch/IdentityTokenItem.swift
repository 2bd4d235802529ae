package import SIWACrypto
package import SIWAJOSE

/// One line of a batch: an identity token, and what it must belong to.
package struct IdentityTokenItem: Sendable {
    /// Its line in the input, from 1.
    package let line: Int
    /// The id of the item in the input: a string or a number; nil for a bare token.
    package let id: JSON?
    /// The identity token to verify.
    package let token: SecretText
    /// The client it must be for; nil for those of the settings.
    package let clientID: ClientID?
    /// The time as of which to verify it; nil for the time of the settings.
    package let moment: NumericDate?
    /// The nonce, code and access token that it must belong to.
    package let binding: TokenBinding

    /// Reads a line: a bare token, or a JSON object
    /// `{"id", "token" or "id_token", "client_id"?, "at"?, "nonce"?, "code"?, "access_token"?}`,
    /// whose other members are ignored.
    ///
    /// - Throws: ``InvalidLine``.
    package init(_ text: SecretBytes, line: Int) throws(InvalidLine) {
        let content = try ItemLine(text)
        let token = try content.token(called: ["token", "id_token"], isJWT: true)
        let (clientID, moment) = (try content.clientID(), try content.moment("at"))
        let binding = TokenBinding(
            nonce: try content.text("nonce").map { SecretText($0) },
            code: try content.opaque("code").map(AuthorizationCode.init),
            accessToken: try content.opaque("access_token").map(AccessToken.init))
        // All at once after the last error, so that no part is copied.
        (self.line, id, self.token, self.clientID) = (line, content.id, token, clientID)
        (self.moment, self.binding) = (moment, binding)
    }
}
