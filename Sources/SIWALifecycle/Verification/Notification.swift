package import SIWAJOSE

/// The content of a verified server-to-server notification (Apple: "Processing changes for Sign in
/// with Apple accounts"). An object, because copying a structure would count a reference to each of
/// its texts.
package final class Notification: Sendable {
    /// What happened to the user's account.
    package let event: NotificationEvent
    /// The client: the primary App ID of its group.
    package let clientID: ClientID
    /// When it was issued.
    package let issuedAt: NumericDate
    /// When it expires.
    package let expiresAt: NumericDate
    /// The id, by which repetitions are recognised: `jti`.
    package let id: String?

    /// Nil if a required claim is missing or has another type.
    init?(_ claims: TokenClaims, _ event: NotificationEvent) {
        guard let clientID = claims[.aud]?.string, let issuedAt = claims.moment(.iat),
            let expiresAt = claims.moment(.exp)
        else { return nil }
        self.event = event
        self.clientID = ClientID(unchecked: clientID)
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        id = claims[.jti]?.string
    }
}

/// The result of verifying a notification.
package typealias NotificationVerification = Verification<Notification>

extension TokenVerifier {
    /// Makes all possible checks of a notification.
    package func verify(
        notification token: CompactJWS, at now: NumericDate
    ) -> NotificationVerification {
        var checks = commonChecks(token, at: now)
        checks.append(identifier(token.claims))
        do {
            let event = try NotificationEvent(token.claims)
            checks.append(.passed(.event, event.kind.rawValue))
            return NotificationVerification(token, checks) { Notification($0, event) }
        } catch {
            // Also prevents that an identity token is accepted as a notification (RFC 8725 §3.12).
            checks.append(.failed(.event, error.description))
            return NotificationVerification(token, checks) { _ in nil }
        }
    }

    private func identifier(_ claims: TokenClaims) -> TokenCheck {
        if claims.hasFilledString(.jti) { return .passed(.jti) }
        return claims.has(.jti)
            ? .failed(.jti, "jti is \(claims[.jti].shown), expected a text")
            : .skipped(.jti, "without a jti, repetitions cannot be recognised")
    }
}
