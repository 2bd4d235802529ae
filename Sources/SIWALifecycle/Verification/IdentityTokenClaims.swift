package import SIWAJOSE

/// The claims of a verified identity token (Apple: `id_token`).
package struct IdentityTokenClaims: Hashable, Sendable {
    /// The user's id, which is the same for all apps of a team. The only claim that identifies a
    /// user.
    package var userID: UserID { UserID(unchecked: text[.sub]?.string ?? "") }
    /// The client the user signed in to: `aud`.
    package var clientID: ClientID { ClientID(unchecked: text[.aud]?.string ?? "") }
    /// The issuer: `iss`.
    package var issuer: String { text[.iss]?.string ?? "" }
    /// When the token was issued.
    package let issuedAt: NumericDate
    /// When it expires.
    package let expiresAt: NumericDate
    /// When the user last authenticated; nil if absent.
    package var authenticatedAt: NumericDate? { text.moment(.authTime) }
    /// The nonce of the sign-in request, raw or hashed.
    package var nonce: String? { text[.nonce]?.string }
    /// Whether the device supports nonces; nil if absent.
    package var isNonceSupported: Bool? { text.flag(.nonceSupported) }
    /// The organization of a managed account: `org_id`.
    package var organizationID: String? { text["org_id"]?.string }
    /// The user's address or a relay address; nil if the app never requested it, and for some
    /// managed accounts.
    package var email: String? { text[.email]?.string.flatMap { $0.isEmpty ? nil : $0 } }
    /// Whether Apple has verified ``email``; nil if absent.
    package var isEmailVerified: Bool? { text.flag(.emailVerified) }
    /// Whether ``email`` is a relay address; Apple omits the claim otherwise.
    package var isPrivateEmail: Bool { text.flag(.isPrivateEmail) ?? false }
    /// Whether the user seems to be a real person; present only in apps, and normally only at the
    /// first sign-in.
    package var realUserStatus: RealUserStatus? {
        text[.realUserStatus]?.integer.map { RealUserStatus(rawValue: $0) }
    }
    /// The transfer identifier, for sixty days after an app transfer.
    package var transferID: TransferID? {
        text[.transferSub]?.string.map { TransferID(unchecked: $0) }
    }
    /// All claims as received, including unknown ones.
    package var json: JSON { text.value }
    /// ``json`` as it was received, without making values of it.
    package var received: String { text.received }
    private let text: TokenClaims

    /// Nil if a required claim is missing or has another type.
    init?(_ text: TokenClaims) {
        // Strings are not created here, because the claims of most tokens in a batch are not read.
        guard text.hasFilledString(.sub), text.hasString(.aud), text.hasString(.iss),
            let issuedAt = text.moment(.iat), let expiresAt = text.moment(.exp)
        else { return nil }
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.text = text
    }
}
