import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// An event in the server's log, without secrets.
struct ServiceEvent: Sendable {
    /// How severe the event is.
    enum Level: String, Sendable {
        case info, warning, error
    }

    /// `level` in the log.
    let level: Level
    /// The name of the event, in snake_case.
    let name: String
    /// The members of the line, in their order; those of the subject follow.
    let members: [JSON.Member]
    /// What the event is about.
    let subject: LogSubject
    /// The user id in a text of the members; nil without one.
    let userID: String?
    /// Whether an outage causes many of its kind, of which the first ones say enough.
    private(set) var isLimited = false

    /// Creates an event.
    ///
    /// - Parameter userID: the user id in a text of the members; nil without one.
    init(
        _ level: Level, _ name: String, _ members: [JSON.Member] = [],
        about subject: LogSubject = LogSubject(), naming userID: String? = nil
    ) {
        (self.level, self.name, self.members) = (level, name, members)
        (self.subject, self.userID) = (subject, userID)
    }

    /// Creates an event whose `reason` is an error of the vault.
    init(_ level: Level, _ name: String, _ error: StoreError, about subject: LogSubject = .init()) {
        self.init(
            level, name, [.init("reason", .string(error.message))], about: subject,
            naming: error.userID)
    }

    /// A call of the database failed.
    static func databaseFailed(_ error: StoreError) -> Self {
        var event = Self(.error, "database_failed", error)
        event.isLimited = true
        return event
    }

    /// Creates an event about an error of the API.
    init(
        _ level: Level, _ name: String, _ problem: Problem, _ members: [JSON.Member] = [],
        about subject: LogSubject = LogSubject()
    ) {
        var subject = subject
        subject.requestID = problem.requestID ?? subject.requestID
        self.init(
            level, name,
            members + [
                .init("code", .string(problem.code)), .init("message", .string(problem.detail)),
            ], about: subject, naming: problem.userID)
    }
}

/// The client, the user, the token and the request to Apple that an event in the log is about.
struct LogSubject: Hashable, Sendable {
    var clientID: ClientID?
    var userID: UserID?
    /// The fingerprint of a refresh token.
    var fingerprint: String?
    /// Apple's id of the request.
    var requestID: String?
}

extension LogSubject {
    init(_ user: VaultUser, fingerprint: String? = nil) {
        self.init(clientID: user.clientID, userID: user.userID, fingerprint: fingerprint)
    }
}

/// Writes events to the log.
typealias ServiceLog = @Sendable (ServiceEvent) -> Void
