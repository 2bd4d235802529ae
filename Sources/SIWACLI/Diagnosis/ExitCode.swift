internal import CommandTable

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

    /// Its description in help.
    var meaning: String {
        switch self {
        case .done: "Done."
        case .no: "A check failed, or a secret is about to expire."
        case .usage: "Usage error: an unknown flag, a missing argument."
        case .settings: "The configuration or the key cannot be used."
        case .clientRefused: "Apple refused the client: invalid_client, unauthorized_client."
        case .grantRefused: "Apple refused the code or token: a new sign-in is needed."
        case .requestRefused: "Apple refused the request otherwise."
        case .outcomeUnknown:
            "A single-use code was sent and Apple's answer is unknown: do not retry blindly."
        case .deployFailed: "The secret was written, but --deploy failed. The next run repeats it."
        case .tooManyRefused:
            "A batch stopped: too many refusals, or items that do not look like tokens. Check the "
                + "input and the results before you run it again."
        case .defect: "A defect in siwa."
        case .notDelivered:
            "The result could not be delivered: standard error says what was done."
        case .temporary: "Temporary: no network, a timeout, an outage page. Try later."
        case .hungUp: "Ended by SIGHUP."
        case .interrupted: "Ended by SIGINT."
        case .quit: "Ended by SIGQUIT."
        case .userSignal1: "Ended by SIGUSR1."
        case .userSignal2: "Ended by SIGUSR2."
        case .terminated: "Ended by SIGTERM."
        case .processorTimeExceeded: "Ended by SIGXCPU."
        }
    }

    static var entries: [Definition] {
        allCases.map { Definition(String($0.rawValue), $0.meaning) }
    }
}

extension ExitCode {
    /// The exit code of a process that a signal ended: 128 and its number.
    init(signal: CInt) { self = Self(rawValue: 128 + signal) ?? .terminated }

    /// The exit code of a command to which all of `codes` apply: the first that applies of 7, 70,
    /// a signal's, 74, 9, 8, 2, 3 to 6, 75, 1, 0.
    static func prevailing(among codes: some Sequence<ExitCode>) -> ExitCode {
        codes.min { $0.rank < $1.rank } ?? .done
    }

    /// The lowest rank wins.
    private var rank: Int {
        switch self {
        case .outcomeUnknown: 0
        case .defect: 1
        case .hungUp, .interrupted, .quit, .userSignal1, .userSignal2, .terminated,
            .processorTimeExceeded:
            2
        case .notDelivered: 3
        case .tooManyRefused: 4
        case .deployFailed: 5
        case .usage: 6
        case .settings: 7
        case .clientRefused: 8
        case .grantRefused: 9
        case .requestRefused: 10
        case .temporary: 11
        case .no: 12
        case .done: 13
        }
    }
}
