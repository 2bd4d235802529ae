package import JOSE

/// What a server-to-server notification says (Apple: "Processing changes for Sign in with Apple
/// accounts"), once it is verified.
package struct Notification: Hashable, Sendable {
    /// What happened.
    package let event: NotificationEvent
    /// The client it is about: the primary App ID of its group.
    package let clientID: ClientID
    /// The issuer: `iss`.
    package let issuer: String
    /// When it was made.
    package let issuedAt: NumericDate
    /// When it expires.
    package let expiresAt: NumericDate
    /// By which to know one that Apple sends twice: `jti`.
    package let id: String?

    /// Nil when a claim that every notification has is missing, or of another type.
    init?(_ claims: JSON, _ event: NotificationEvent) {
        guard let clientID = claims["aud"]?.string,
            let issuer = claims["iss"]?.string, let issuedAt = claims["iat"]?.moment,
            let expiresAt = claims["exp"]?.moment
        else { return nil }
        self.event = event
        self.clientID = ClientID(unchecked: clientID)
        self.issuer = issuer
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        id = claims["jti"]?.string
    }
}

/// What verifying a notification found.
package typealias NotificationVerification = Verification<Notification>

extension TokenVerifier {
    /// Makes every check that can be made of a notification.
    package func verify(
        notification token: CompactJWS, at now: NumericDate
    ) -> NotificationVerification {
        let claims = token.payload
        let common = commonChecks(token, at: now) + [identifier(claims)]
        do {
            let event = try NotificationEvent(claims)
            return NotificationVerification(token, common + [.passed(.event, event.kind.rawValue)])
            { _ in Notification(claims, event) }
        } catch {
            // Also what keeps an identity token from passing for a notification (RFC 8725 §3.12).
            return NotificationVerification(token, common + [.failed(.event, error.description)]) {
                _ in nil
            }
        }
    }

    private func identifier(_ claims: JSON) -> Check {
        switch claims["jti"] {
        case .string(let id) where !id.isEmpty: .passed(.jti)
        case nil: .skipped(.jti, "without a jti, repetitions cannot be recognised")
        case let other: .failed(.jti, "jti is \(other.shown), expected a text")
        }
    }
}
