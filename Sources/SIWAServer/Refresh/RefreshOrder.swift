package import Lifecycle
package import SIWACLI

/// A request to refresh a token, checked.
package struct RefreshOrder: Sendable {
    /// Which token.
    package enum Target: Sendable {
        /// The user's newest token in the vault, of one client.
        case user(UserID, ClientID?)
        /// A token that the caller has, of a client.
        case token(RefreshToken, ProfileClient)
    }

    /// Which token.
    package let target: Target
    /// How old an answer of Apple's may be to be good enough; nil to ask in any case.
    package let maxAge: Duration?

    /// Describes a request.
    package init(_ target: Target, maxAge: Duration? = nil) {
        (self.target, self.maxAge) = (target, maxAge)
    }
}
