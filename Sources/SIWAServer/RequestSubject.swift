internal import SIWALifecycle
internal import Synchronization

/// The client, user and token that a request concerns. The route sets them, and the request's line
/// in the log shows them.
final class RequestSubject: Sendable {
    private let known = Mutex(LogSubject())

    init() {}

    /// Sets the given parts; nil changes nothing.
    ///
    /// - Parameters:
    ///   - fingerprint: the refresh token's.
    ///   - requestID: Apple's id of the request.
    func note(
        clientID: ClientID? = nil, userID: UserID? = nil, fingerprint: String? = nil,
        requestID: String? = nil
    ) {
        known.withLock { known in
            known.clientID = clientID ?? known.clientID
            known.userID = userID ?? known.userID
            known.fingerprint = fingerprint ?? known.fingerprint
            known.requestID = requestID ?? known.requestID
        }
    }

    /// What is known.
    var current: LogSubject { known.withLock { $0 } }
}
