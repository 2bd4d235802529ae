package import JOSE
internal import Lifecycle

/// What a request to refresh a token is answered.
package struct RefreshAnswer: Sendable {
    /// What `siwa refresh` prints, or `active`, `checked_at` and `cached`.
    package let json: JSON
    /// The client that holds the token.
    let clientID: ClientID
    /// The token's fingerprint; nil for a record of an old schema that was not opened.
    let fingerprint: String?
    /// What Apple named the request; nil if none was sent.
    let requestID: String?
}
