package import SIWAJOSE

extension TokenVerifier {
    /// Makes all possible checks of an identity token.
    ///
    /// - Parameter binding: the nonce, code and access token that it must belong to.
    package func verify(
        identityToken token: CompactJWS, boundTo binding: TokenBinding = TokenBinding(),
        at now: NumericDate
    ) -> IdentityTokenVerification {
        var checks = commonChecks(token, at: now)
        checks.append(subject(token.claims))
        binding.addChecks(of: token.claims, to: &checks)
        return IdentityTokenVerification(
            token, checks, isReceivedFromApple: isReceivedFromApple,
            reading: IdentityTokenClaims.init)
    }

    /// Also prevents that a notification is accepted as an identity token (RFC 8725 §3.12).
    private func subject(_ claims: TokenClaims) -> TokenCheck {
        guard !claims.has(.events) else {
            return .failed(.subject, "the token has events, so it is a notification")
        }
        return claims.hasFilledString(.sub)
            ? .passed(.subject) : .failed(.subject, "sub is \(claims[.sub].shown)")
    }
}
