import SIWAJOSE
internal import SIWALifecycle

/// The answer to a request to refresh a token.
struct RefreshAnswer: Sendable {
    /// The members of `siwa refresh`, or `active`, `checked_at` and `cached`.
    let json: JSON
    /// The client that holds the token.
    let clientID: ClientID
    /// The token's fingerprint.
    let fingerprint: String
    /// Apple's id of the request; nil if no request was sent.
    let requestID: String?
}
