internal import SIWACrypto
internal import SIWAJOSE

/// The nonce, code and access token that an identity token must belong to; nil members are not
/// compared.
package struct TokenBinding: Sendable {
    /// The nonce of the sign-in request, raw.
    package let nonce: SecretText?
    /// The authorization code that was issued with it, for `c_hash`.
    package let code: AuthorizationCode?
    /// The access token that was issued with it, for `at_hash`.
    package let accessToken: AccessToken?
    /// Whether a token without the hash passes. Apple puts `c_hash` into tokens that are issued
    /// with a code, and `at_hash` into those that are issued for a code.
    package let acceptsMissingHashes: Bool

    /// Creates a binding.
    package init(
        nonce: SecretText? = nil, code: AuthorizationCode? = nil, accessToken: AccessToken? = nil,
        acceptsMissingHashes: Bool = false
    ) {
        self.nonce = nonce
        self.code = code
        self.accessToken = accessToken
        self.acceptsMissingHashes = acceptsMissingHashes
    }

    func addChecks(of claims: TokenClaims, to checks: inout [TokenCheck]) {
        checks.append(nonceCheck(claims, nonce))
        checks.append(
            code.map {
                hash(.cHash, claims, .cHash, of: $0.text, called: "authorization code")
            }
                ?? .skipped(.cHash, "no authorization code was given to compare"))
        checks.append(
            accessToken.map {
                hash(.atHash, claims, .atHash, of: $0.text, called: "access token")
            }
                ?? .skipped(.atHash, "no access token was given to compare"))
    }

    /// OpenID Connect Core §3.1.3.6, §3.3.2.11: base64url of the left half of the SHA-256.
    private func hash(
        _ subject: TokenCheck.Subject, _ claims: TokenClaims, _ claim: Claim, of text: SecretText,
        called what: String
    ) -> TokenCheck {
        guard claims.has(claim) else {
            return acceptsMissingHashes
                ? .skipped(subject, "the token has none")
                : .failed(subject, "the token has none, so it cannot be tied to the \(what)")
        }
        guard let digest = try? text.bytes.withSpan(SHA256.digest) else {
            return .failed(subject, "there is no SHA-256 on this machine")
        }
        return claims.has(claim, exactly: Base64URL.encode(digest.prefix(16)))
            ? .passed(subject) : .failed(subject, "the token belongs to another \(what)")
    }
}
