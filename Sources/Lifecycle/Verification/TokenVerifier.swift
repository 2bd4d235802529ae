package import JOSE

/// Verifies what Apple signs, identity tokens and notifications: every check is made and named,
/// so that all failures show at once.
///
/// The algorithm is pinned to RS256 and the key chosen by `kid` from Apple's set; nothing else in
/// a header is believed, be it a key, an address of one, or a type (RFC 8725 §3.1, §3.5, §3.10;
/// Apple: "Verifying a user").
package struct TokenVerifier: Sendable {
    /// Apple's keys; without any, no token is valid.
    package let keySet: KeySet?
    /// The clients whose tokens are accepted: `aud`.
    package let audiences: [String]
    /// The issuers that are accepted: `iss`.
    package let issuers: [String]
    /// How far clocks may differ, either way.
    package let leeway: Duration
    /// Whether the token came from Apple over TLS, which may replace the check of its signature
    /// when its key is not available (OpenID Connect Core §3.1.3.7).
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
        self.leeway = leeway
        self.isReceivedFromApple = isReceivedFromApple
    }

    /// The checks that everything Apple signs must pass.
    func commonChecks(_ token: CompactJWS, at now: NumericDate) -> [Check] {
        var checks: [Check] = []
        // Room for those that an identity token adds.
        checks.reserveCapacity(16)
        checks.append(.passed(.format))
        addSignatureChecks(token, to: &checks)
        checks.append(issuer(token.claims))
        checks.append(audience(token.claims))
        checks.append(expiry(token.claims, now))
        checks.append(issuedAt(token.claims, now))
        return checks
    }
}
