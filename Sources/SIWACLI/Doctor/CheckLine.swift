internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle

/// The result of one check of `siwa doctor`.
struct CheckLine: Sendable {
    enum Status: String, Sendable {
        case ok
        case warning
        case failed
        case skipped

        var color: Terminal.Color {
            switch self {
            case .ok: .green
            case .warning: .yellow
            case .failed: .red
            case .skipped: .faint
            }
        }
    }

    let name: String
    private(set) var status: Status
    private(set) var seen: String
    /// What to do.
    private(set) var advice: String?
    /// The cause, if siwa knows it.
    private(set) var finding: Finding?
    /// How sure the status is; nil if it is certain.
    private(set) var confidence: Finding.Confidence?

    init(
        _ name: String, _ status: Status, _ seen: String, advice: String? = nil,
        confidence: Finding.Confidence? = nil
    ) {
        self.name = name
        self.status = status
        self.seen = maskingSecrets(in: seen)
        self.advice = advice.map { maskingSecrets(in: $0) }
        self.confidence = confidence
    }

    /// A guess is not a failure.
    init(_ name: String, _ finding: Finding) {
        let status: Status =
            switch finding.severity {
            case .error where finding.confidence != .possible: .failed
            case .error, .warning: .warning
            case .note: .ok
            }
        self.init(
            name, status, finding.seen, advice: finding.advice, confidence: finding.confidence)
        self.finding = finding
    }

    /// A result whose cause is less certain than its status.
    init(
        _ name: String, _ status: Status, confidence: Finding.Confidence, _ finding: Finding
    ) {
        self.init(
            name, status, finding.seen, advice: finding.advice, confidence: confidence)
        self.finding = finding
    }

    init(_ name: String, _ error: SettingsError) {
        self.init(
            name, .failed, error.message, advice: error.hints.joined(separator: "; "))
    }

    /// A setting that may be in the configuration, which cannot be read: another line says why.
    static func unread(_ name: String) -> Self {
        Self(name, .skipped, "not known, because the configuration cannot be read")
    }

    /// A line for each finding, or one line that reports success.
    static func lines(
        _ name: String, _ findings: [Finding], otherwise seen: String
    ) -> [CheckLine] {
        findings.isEmpty
            ? [CheckLine(name, .ok, seen)] : findings.map { CheckLine(name, $0) }
    }

    /// The same line after Apple has accepted the client, which rules out its likely cause.
    var outweighed: CheckLine {
        guard status == .failed, confidence == .likely else { return self }
        var line = self
        line.status = .warning
        return line
    }

    /// The same line, with the files and commands that a person can use.
    func shown(in words: ServiceWords) -> CheckLine {
        var line = self
        line.advice = words.missingCopy(seen) ?? advice.map(words.shown)
        line.seen = words.shown(seen)
        return line
    }

    var json: JSON {
        let code = finding?.code.rawValue
        let members: [(String, String?)] = [
            ("name", name), ("status", status.rawValue), ("seen", seen), ("code", code),
            ("confidence", confidence?.rawValue), ("advice", advice),
        ]
        return .object(
            members.compactMap { name, text in text.map { JSON.Member(name, .string($0)) } })
    }

    /// The line for people; the names of all lines are `width` wide.
    func text(width: Int, on terminal: Terminal) -> String {
        let indent = String(repeating: " ", count: 8 + width + 2)
        let head =
            terminal.output.painted(status.rawValue, status.color)
            + String(repeating: " ", count: 8 - status.rawValue.count) + name.padded(to: width + 2)
        let room = terminal.width.map { max($0 - indent.count, 20) } ?? .max
        let first = printable(seen, limit: 1000).wrapped(to: room)
        let second =
            status == .ok
            ? [] : advice.map { "→ " + printable($0, limit: 1000) }?.wrapped(to: room) ?? []
        return head + (first + second).joined(separator: "\n" + indent)
    }
}
