package import SIWAJOSE

/// Verifies identity tokens and notifications. All checks are made, so that all failures are shown
/// at once.
///
/// The algorithm must be RS256, and the key is chosen by `kid` from Apple's set. Everything else in
/// a header, such as a key, a key URL or a type, is ignored (RFC 8725 §3.1, §3.5, §3.10; Apple:
/// "Verifying a user").
package struct TokenVerifier: Sendable {
    /// Apple's keys; without them, no token is valid.
    package let keySet: KeySet?
    /// The clients whose tokens are accepted: `aud`.
    package let audiences: [String]
    /// The issuers that are accepted: `iss`.
    package let issuers: [String]
    /// The accepted clock skew in seconds.
    package let leeway: Int
    /// Whether the token came from Apple over TLS, which replaces the check of its signature when
    /// its key is not available; see ``ExchangeVerification``.
    package let isReceivedFromApple: Bool

    /// Apple's own issuer.
    package static let appleIssuer = "https://appleid.apple.com"

    /// Accepts Apple's tokens for `audiences`.
    package init(
        keySet: KeySet?, audiences: [String], issuers: [String] = [appleIssuer],
        leeway: Duration = .seconds(60), isReceivedFromApple: Bool = false
    ) {
        self.keySet = keySet
        self.audiences = audiences
        self.issuers = issuers
        self.leeway = Int(clamping: leeway.components.seconds)
        self.isReceivedFromApple = isReceivedFromApple
    }

    /// The checks of all tokens that Apple signs.
    func commonChecks(_ token: CompactJWS, at now: NumericDate) -> [TokenCheck] {
        var checks: [TokenCheck] = []
        // Includes the checks of an identity token.
        checks.reserveCapacity(16)
        checks.append(.passed(.format))
        addSignatureChecks(token, to: &checks)
        checks.append(issuer(token.claims))
        checks.append(audience(token.claims))
        checks.append(expiry(token.claims, now))
        checks.append(issuedAt(token.claims, now))
        if let check = notBefore(token.claims, now) { checks.append(check) }
        return checks
    }
}
