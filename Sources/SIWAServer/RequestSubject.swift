internal import JOSE
internal import Lifecycle
internal import Synchronization

/// The client, user and token that a request concerns. The route sets them, and the request's line
/// in the log shows them.
package final class RequestSubject: Sendable {
    private struct Known {
        var clientID: ClientID?
        var userID: UserID?
        var fingerprint: String?
        var requestID: String?
    }

    private let known = Mutex(Known())

    package init() {}

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

    /// The members for the log.
    var members: [JSON.Member] {
        let known = known.withLock { $0 }
        return [
            ("client_id", known.clientID?.rawValue), ("user_id", known.userID?.rawValue),
            ("token_fingerprint", known.fingerprint), ("apple_request_id", known.requestID),
        ].compactMap { name, value in value.map { .init(name, .string($0)) } }
    }
}
