package import SIWAJOSE
internal import SIWALifecycle
package import SIWAServerRecords
internal import SIWAVaultRecords

/// What the person on call wants to see: `siwa status`, `GET /v1/status` and the status page are
/// this one value. No user id, no token, no password.
package struct ServerStatus: Sendable {
    /// Now.
    package let at: NumericDate
    /// What the database knows.
    package let survey: ServerSurvey

    /// How problems name files and commands.
    let words: ServiceWords

    /// - Parameters:
    ///   - survey: without counts if the database is unavailable.
    ///   - words: how problems name files and commands.
    package init(_ survey: ServerSurvey, at: NumericDate, _ words: ServiceWords = .none) {
        (self.survey, self.at, self.words) = (survey, at, words)
    }

    /// The problems, the most severe first.
    package var issues: [Issue] {
        unworded.map {
            var issue = Issue(
                words.shown($0.fault), words.shown($0.remedy), page: $0.page, in: $0.row)
            issue.host = $0.host
            return issue
        }
    }

    /// A row of the status page.
    package enum Row: Hashable, Sendable {
        /// Endpoints of Apple that do not work.
        case outage
        /// Apple's last answer that refused a client.
        case lastRefusal
        /// This machine's clock and Apple's.
        case clock
        /// The client_secret of a profile.
        case secret(profile: String)
        /// The signer of a profile.
        case signer(profile: String)
        /// Apple's keys.
        case keySet
        /// The events in a state.
        case events(InboxState)
        /// The event that waits longest.
        case waitingEvents
        /// The revocations in a state.
        case revocations(RevocationJob.State)
        /// The revocation that waits longest.
        case waitingRevocations
        /// The token whose revocation was left unfinished first.
        case unfinished
        /// Refresh tokens that are not stored yet.
        case unsavedTokens
        /// The daily validation.
        case validation
        /// The last check of the whole vault.
        case vaultCheck
        /// The running servers.
        case servers
    }

    /// A problem, and what to do about it.
    package struct Issue: Hashable, Sendable {
        /// The machine that has it; nil if it concerns all.
        package var host: String?
        /// What is wrong, as a sentence.
        package let fault: String
        /// What to do, as sentences.
        package let remedy: String
        /// The page of the documentation that says more, relative to ``manual``.
        package let page: String
        /// The row of the status page that shows it.
        package let row: Row

        init(_ fault: String, _ remedy: String, page: String, in row: Row) {
            (self.fault, self.remedy, self.page, self.row) = (fault, remedy, page, row)
        }

        /// The fault, with the machine that has it.
        package var sentence: String { (host.map { "\($0): " } ?? "") + fault }

        /// Where the package installs the page.
        package var address: String { ServerStatus.manual + page }
    }

    /// The folder of the installed documentation.
    package static let manual = "/usr/share/doc/siwa/html/docs/"

    /// The running servers, the one with the most severe problems first.
    package var servers: [ServerRecord] {
        survey.servers.enumerated().sorted {
            let (left, right) = (severity(of: $0.element), severity(of: $1.element))
            return left == right ? $0.offset < $1.offset : left > right
        }.map(\.element)
    }

    private func severity(of record: ServerRecord) -> Int {
        issueGroups(of: record).reversed().enumerated().reduce(0) {
            $0 + ($1.element.isEmpty ? 0 : 1 << $1.offset)
        }
    }

    /// The server whose facts are shown; nil if none is running.
    package var worst: ServerRecord? { servers.first }

    /// The daily validation of a server in words.
    package static func words(_ validation: ServerFacts.Validation?) -> String {
        guard let validation else { return "off" }
        let every = Duration.seconds(validation.everySeconds).abbreviation
        let head = "every \(every), at most \(validation.perSecond)/s"
        guard let began = validation.beganAt else { return head }
        return """
            \(head); in the pass since \(began.rfc3339), by this server since its start: \
            \(validation.checked) checked, \(validation.dead) of them dead, \(validation.failed) not \
            answered
            """
    }

    /// Milliseconds in words.
    package static func words(_ milliseconds: Int?) -> String {
        guard let milliseconds else { return "more than 30 s" }
        return milliseconds < 1000
            ? "at most \(milliseconds) ms"
            : "at most \(milliseconds / 1000)\(milliseconds % 1000 == 0 ? "" : ".5") s"
    }
}

// `siwa status --json` and `GET /v1/status`.
extension ServerStatus {
    /// The whole value.
    package var json: JSON {
        .object([
            .init("at", .string(at.rfc3339)),
            .init("ok", .boolean(issues.isEmpty)),
            .init("problems", .array(issues.map(\.json))),
            .init("not_yet_known", .array(unknowns.map { .string($0) })),
            .init("servers", .array(servers.map { .object(members(of: $0)) })),
            .init("vault", vault), .init("events", events), .init("revocations", revocations),
            .init("activity", .array(survey.activity.map(Self.members))),
        ])
    }

    private func members(of record: ServerRecord) -> [JSON.Member] {
        [
            .init("host", .string(record.server.host)),
            .init("version", .string(record.server.version)),
            .init("started_at", .string(record.startedAt.rfc3339)),
            .init("heartbeat_at", .string(record.heartbeatAt.rfc3339)),
        ] + (record.facts?.members ?? [])
    }

    private var vault: JSON {
        let tokens = (survey.counts?.tokens ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }
        return [
            "schema": Self.number(survey.vaultVersion),
            "server_schema": Self.number(survey.serverVersion),
            "tokens": .object(
                tokens.map { client, states in
                    .init(client.rawValue, Self.states(states))
                }),
            "tokens_counted_at": (survey.counts?.tokensCountedAt?.rfc3339).map { .string($0) }
                ?? .null,
            "last_validation_at": (survey.counts?.lastValidation?.rfc3339).map { .string($0) }
                ?? .null,
            "last_check_at": (survey.counts?.vaultCheck?.at.rfc3339).map { .string($0) } ?? .null,
            "faults": Self.number(survey.counts?.vaultCheck?.faults),
        ]
    }

    private var events: JSON {
        Self.work(
            survey.counts.map { Self.states($0.inbox) }, survey.counts?.oldestPendingEvent,
            survey.counts?.eventAttempts)
    }

    private var revocations: JSON {
        Self.work(
            survey.counts.map { Self.states($0.revocations) },
            survey.counts?.oldestPendingRevocation, survey.counts?.revocationAttempts)
    }

    private static func work(
        _ states: JSON?, _ age: Duration?, _ attempts: ServerCounts.Attempts?
    ) -> JSON {
        [
            "states": states ?? .null,
            "oldest_pending_seconds": number(age.map { Int($0.components.seconds) }),
            "next_attempt_at": attempts.map { .string($0.next.rfc3339) } ?? .null,
            "last_attempt_at": attempts.map { .string($0.last.rfc3339) } ?? .null,
        ]
    }

    private static func states<State: RawRepresentable<String>>(_ counts: [State: Int]) -> JSON {
        .object(
            counts.sorted { $0.key.rawValue < $1.key.rawValue }
                .map { .init($0.key.rawValue, .integer($0.value)) })
    }

    private static func members(_ hour: HourlyActivity) -> JSON {
        .object(
            [.init("hour", .string(hour.begin.rfc3339))]
                + hour.counts.sorted { $0.key.rawValue < $1.key.rawValue }
                .map { .init($0.key.rawValue, .integer($0.value)) })
    }

    private static func number(_ value: Int?) -> JSON { value.map { .integer($0) } ?? .null }
}

extension ServerStatus.Issue {
    fileprivate var json: JSON {
        [
            "host": host.map { .string($0) } ?? .null, "fault": .string(fault),
            "remedy": .string(remedy), "page": .string(address),
        ]
    }
}
