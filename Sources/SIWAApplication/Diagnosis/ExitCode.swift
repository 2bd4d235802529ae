package import SIWACommandTable

/// The exit codes, which scripts and runbooks rely on.
package enum ExitCode: CInt, Sendable, CaseIterable {
    case done = 0
    case no = 1
    case usage = 2
    case settings = 3
    case clientRefused = 4
    case grantRefused = 5
    case requestRefused = 6
    case outcomeUnknown = 7
    case deployFailed = 8
    case tooManyRefused = 9
    case defect = 70
    case notDelivered = 74
    case temporary = 75
    case hungUp = 129
    case interrupted = 130
    case quit = 131
    case userSignal1 = 138
    case userSignal2 = 140
    case terminated = 143
    case processorTimeExceeded = 152

    /// What is known about an exit code. Help, manual pages, the tables of the documents and the
    /// order of ``prevailing(among:)`` derive from it.
    private struct Row {
        /// The lowest rank wins.
        let rank: Int
        let meaning: String
        /// What a runbook does, as the end of the sentence "The runbook …".
        let advice: String

        init(_ rank: Int, _ meaning: String, _ advice: String = "") {
            (self.rank, self.meaning, self.advice) = (rank, meaning, advice)
        }

        static func signal(_ name: String) -> Row { Row(2, "Ended by \(name).") }
    }

    // No dictionary, whose type a start would create (docs/decisions/linking.md).
    private var row: Row {
        switch self {
        case .done: Row(13, "Done.", "continues")
        case .no:
            Row(
                12,
                """
                The answer is no: a check failed, a secret is about to expire, a member is absent, \
                some items of a batch were refused, tokens could not be stored.
                """, "reads the result")
        case .usage: Row(6, "Usage error: an unknown flag, a missing argument.", "fixes the call")
        case .settings: Row(7, "The configuration or the key cannot be used.", "fixes the settings")
        case .clientRefused:
            Row(
                8, "Apple refused the client: invalid_client, unauthorized_client.",
                "runs siwa doctor --online")
        case .grantRefused:
            Row(
                9, "Apple refused the code or token: invalid_grant.", "needs a new sign-in")
        case .requestRefused: Row(10, "Apple refused the request otherwise.", "reads the hints")
        case .outcomeUnknown:
            Row(
                0,
                """
                A single-use code was sent and Apple's answer is unknown: none came, a 500, 502 or \
                504, or a page.
                """, "does not retry blindly")
        case .deployFailed:
            Row(
                5, "secret --out wrote the secret, but --deploy failed.",
                "does nothing: the next run repeats it")
        case .tooManyRefused:
            Row(
                4, "A batch stopped: too many refusals, or items that do not look like tokens.",
                "checks the input and the results before running it again")
        case .defect: Row(1, "A defect in the program.", "reports it")
        case .notDelivered:
            Row(
                3, "The result could not be delivered: standard error says what was done.",
                "looks at what was done")
        case .temporary:
            Row(
                11,
                """
                Temporary: no network, a timeout, 429, 5xx, an outage page; in a batch: some items \
                failed that way.
                """, "tries later, or with --resume")
        case .hungUp: .signal("SIGHUP")
        case .interrupted: .signal("SIGINT")
        case .quit: .signal("SIGQUIT")
        case .userSignal1: .signal("SIGUSR1")
        case .userSignal2: .signal("SIGUSR2")
        case .terminated: .signal("SIGTERM")
        case .processorTimeExceeded: .signal("SIGXCPU")
        }
    }

    /// What it means, in one sentence.
    var meaning: String { row.meaning }

    /// What a runbook does then, as the end of the sentence "The runbook …"; empty after a signal.
    var advice: String { row.advice }

    /// All exit codes, for help.
    package static var entries: [Definition] { allCases.map { $0.entry() } }

    /// The exit code for the help of a program.
    ///
    /// - Parameter meaning: what it means there, if it is more specific.
    package func entry(_ meaning: String? = nil) -> Definition {
        Definition(String(rawValue), meaning ?? self.meaning)
    }
}

extension ExitCode {
    /// The exit code of a process that a signal ended: 128 and its number.
    init(signal: CInt) { self = Self(rawValue: 128 + signal) ?? .terminated }

    /// The exit code of a command to which all of `codes` apply: the first that applies of 7, 70,
    /// a signal's, 74, 9, 8, 2, 3 to 6, 75, 1, 0.
    package static func prevailing(among codes: some Sequence<ExitCode>) -> ExitCode {
        codes.min { $0.row.rank < $1.row.rank } ?? .done
    }
}
