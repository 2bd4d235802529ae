internal import JOSE
internal import Lifecycle
internal import Synchronization

/// What a request to a route is about. The route notes it as it finds out, and the request's line in
/// the log shows it.
package final class RequestSubject: Sendable {
    private struct Known {
        var clientID: ClientID?
        var userID: UserID?
        var fingerprint: String?
        var requestID: String?
    }

    private let known = Mutex(Known())

    package init() {}

    /// Notes what became known; nil changes nothing.
    ///
    /// - Parameters:
    ///   - fingerprint: the refresh token's.
    ///   - requestID: what Apple named the request to it.
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

    /// What is known, for the log.
    var members: [JSON.Member] {
        let known = known.withLock { $0 }
        return [
            ("client_id", known.clientID?.rawValue), ("user_id", known.userID?.rawValue),
            ("token_fingerprint", known.fingerprint), ("apple_request_id", known.requestID),
        ].compactMap { name, value in value.map { .init(name, .string($0)) } }
    }
}
