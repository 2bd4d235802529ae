internal import SIWACommandTable

/// The exit codes of siwa that the emulator uses.
enum ExitCode: CInt, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 2
    case settings = 3
    case defect = 70
    case temporary = 75

    /// Its description in help.
    private var meaning: String {
        switch self {
        case .done: "Success; also a server that SIGTERM or SIGINT stopped."
        case .failed: "conform: the backend failed a check."
        case .usage: "Usage error: an unknown flag, a missing argument."
        case .settings: "The folder, one of its files or the address cannot be used."
        case .defect: "A defect in siwa-emulator."
        case .temporary: "Temporary: the port is in use, the disk is full."
        }
    }

    static var entries: [Definition] {
        allCases.map { Definition(String($0.rawValue), $0.meaning) }
    }
}
