internal import SIWAApplication
import SIWALifecycle

/// The validated input of `POST /v1/refresh`.
struct RefreshInput: Sendable {
    /// The token to refresh.
    enum Target: Sendable {
        /// The user's newest token in the vault; of one client if it is given.
        case user(UserID, ClientID?)
        /// A token of the caller, issued to a client.
        case token(RefreshToken, ProfileClient)
    }

    /// The token to refresh.
    let target: Target
    /// The maximum age of a known answer of Apple; nil to always send a request.
    let maxAge: Duration?

    /// Creates the input.
    init(_ target: Target, maxAge: Duration? = nil) {
        (self.target, self.maxAge) = (target, maxAge)
    }
}
