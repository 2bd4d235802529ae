internal import SIWAJOSE
internal import SIWALifecycle
internal import Synchronization

/// What happened in a client, for logs, metrics and traces. It contains no secret and no user id.
public struct SignInWithAppleEvent: Hashable, Sendable {
    /// What happened. An open set: later versions may add kinds.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The name in snake_case, as it may stand in a log.
        public let rawValue: String

        /// Creates a kind from any name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A request to Apple ended: with a response (``SignInWithAppleEvent/status``), or without
        /// one (``SignInWithAppleEvent/failure``).
        public static let requestEnded = Self(rawValue: "request_ended")
        /// A request will be repeated after ``SignInWithAppleEvent/duration``.
        public static let retryScheduled = Self(rawValue: "retry_scheduled")
        /// Apple's public keys were fetched.
        public static let keysFetched = Self(rawValue: "keys_fetched")
        /// Apple's public keys were used although they are older than an hour and could not be
        /// replaced; ``SignInWithAppleEvent/duration`` is their age.
        public static let keysStale = Self(rawValue: "keys_stale")
        /// A ``KeySetStore`` failed, or did not answer in time.
        public static let keySetStoreFailed = Self(rawValue: "key_set_store_failed")
        /// A client secret was signed.
        public static let clientSecretSigned = Self(rawValue: "client_secret_signed")
        /// An authorization code may have been sent, and no answer came: it may be spent.
        public static let codeOutcomeUnknown = Self(rawValue: "code_outcome_unknown")
    }

    /// What happened.
    public let kind: Kind
    /// The path of Apple's endpoint, such as `/auth/token`; nil for other kinds.
    public var endpoint: String?
    /// The number of the attempt at the same request, from 1; nil for other kinds.
    public var attempt: Int?
    /// The status of Apple's response; nil without one.
    public var status: Int?
    /// How long the request took, or how long the wait is; nil for other kinds.
    public var duration: Duration?
    /// Apple's id of the request, for Apple's support; nil if absent.
    public var requestID: String?
    /// Why there is no response; nil if there is one.
    public var failure: String?

    /// Creates an event, for tests of an observer.
    public init(_ kind: Kind) { self.kind = kind }
}

/// Hands events to the function that a client was created with.
struct Observer: Sendable {
    private let receive: (@Sendable (SignInWithAppleEvent) -> Void)?

    init(_ receive: (@Sendable (SignInWithAppleEvent) -> Void)?) { self.receive = receive }

    func tell(_ kind: SignInWithAppleEvent.Kind, duration: Duration? = nil) {
        guard let receive else { return }
        var event = SignInWithAppleEvent(kind)
        event.duration = duration
        receive(event)
    }

    /// Tells of a secret.
    var minted: @Sendable (SIWALifecycle.ClientSecret) -> Void {
        { [self] _ in tell(.clientSecretSigned) }
    }

    /// A trace of the requests of one call, which are made one after the other.
    func trace() -> RequestTrace? {
        guard let receive else { return nil }
        let last = Mutex(SignInWithAppleEvent(.requestEnded))
        return { event in
            var ended = last.withLock { $0 }
            switch event {
            case .sending(let request, let attempt):
                ended.endpoint = request.path
                ended.attempt = attempt
                last.withLock { [ended] in $0 = ended }
                return
            case .answered(let response, let duration):
                (ended.status, ended.duration) = (response.status, duration)
                ended.requestID = response.requestID
            case .failed(let error, let duration):
                (ended.failure, ended.duration) = (error.message, duration)
            case .waiting(let delay):
                ended = SignInWithAppleEvent(.retryScheduled)
                (ended.endpoint, ended.duration) = (last.withLock { $0.endpoint }, delay)
            }
            receive(ended)
        }
    }
}

extension HTTPRequest {
    /// The path of its URL.
    fileprivate var path: String {
        let rest = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).last
        return "/" + (rest.flatMap { $0.split(separator: "/", maxSplits: 1).last } ?? "")
    }
}
