internal import CommandTable

/// The exit codes a runbook relies on.
enum ExitCode: CInt, Sendable, CaseIterable {
    case done = 0
    case no = 1
    case usage = 2
    case settings = 3
    case clientRefused = 4
    case grantRefused = 5
    case requestRefused = 6
    case outcomeUnknown = 7
    case defect = 70
    case temporary = 75

    /// What help says of it.
    var meaning: String {
        switch self {
        case .done: "Done."
        case .no: "The answer is no: a check failed, or a secret is about to expire."
        case .usage: "The call is wrong: an unknown flag, a missing argument."
        case .settings: "The configuration or the key cannot be used."
        case .clientRefused: "Apple refused the client: invalid_client, unauthorized_client."
        case .grantRefused: "Apple refused the code or token: a new sign-in is needed."
        case .requestRefused: "Apple refused the request otherwise."
        case .outcomeUnknown: "A single-use code was sent and no answer came: do not retry blindly."
        case .defect: "A defect in siwa."
        case .temporary: "Temporary: no network, a timeout, an outage page. Try later."
        }
    }

    static var entries: [Entry] {
        allCases.map { Entry(String($0.rawValue), $0.meaning) }
            + [Entry("130, 143", "Interrupted, terminated.")]
    }
}
