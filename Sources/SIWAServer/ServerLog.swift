internal import SIWAApplication
internal import SIWACommandTable
import SIWAJOSE
internal import SIWALifecycle
internal import Synchronization

/// The log: one JSON object per line, without secrets.
struct ServerLog: Sendable {
    private let now: @Sendable () -> NumericDate
    private let elapsed: @Sendable () -> Duration
    private let write: @Sendable (String) -> Void
    private let showsUserIDs: Bool
    private let words: ServiceWords
    private let shared = Shared()

    /// What all copies of a log have together.
    private final class Shared: Sendable {
        let limits = Mutex(LineLimits())
        /// Whole lines that are not written yet.
        let waiting = Mutex<[UInt8]>([])
    }

    /// - Parameters:
    ///   - elapsed: the monotonic clock.
    ///   - showsUserIDs: if false, fingerprints are logged in place of user ids.
    ///   - words: how messages name files and commands.
    ///   - write: writes a line.
    init(
        now: @escaping @Sendable () -> NumericDate,
        elapsed: @escaping @Sendable () -> Duration = Timekeeper.system.elapsed,
        showsUserIDs: Bool = true, words: ServiceWords = .none,
        write: @escaping @Sendable (String) -> Void
    ) {
        (self.now, self.elapsed, self.write) = (now, elapsed, write)
        (self.showsUserIDs, self.words) = (showsUserIDs, words)
    }

    /// Writes a line that anyone outside can cause, unless there were many of its kind.
    func callAsFunction(
        _ event: @autoclosure () -> ServiceEvent, limitedAs kind: LineLimits.Kind
    ) {
        let now = elapsed()
        guard shared.limits.withLock({ $0.admits(kind, at: now) }) else { return }
        writeLine(of: event())
    }

    /// Writes a line for each kind of which lines were not written. Runs until cancelled.
    func keepCountingOmitted(_ timekeeper: Timekeeper) async {
        while !Task.isCancelled {
            try? await timekeeper.sleep(LineLimits.window / 6)
            writeOmitted(at: Task.isCancelled ? nil : elapsed())
        }
    }

    /// - Parameter now: nil at the end of the process.
    func writeOmitted(at now: Duration?) {
        for omission in shared.limits.withLock({ $0.takeOmitted(at: now) }) {
            self(
                .warning, "lines_omitted",
                omission.kind + [.init("count", .integer(omission.count))])
        }
    }

    /// Writes a line, unless it is limited and there were many of its kind.
    func callAsFunction(_ event: ServiceEvent) {
        guard event.isLimited else { return writeLine(of: event) }
        self(event, limitedAs: [.init("of", .string(event.name))])
    }

    private func writeLine(of event: ServiceEvent) {
        var line = JSONLine()
        add(event, to: &line)
        write(String(decoding: (consume line).finishedWithoutLineEnd(), as: UTF8.self))
    }

    /// Writes a line with the next ``writeWaiting()``: many at once take hardly longer than one.
    func later(_ event: ServiceEvent) {
        shared.waiting.withLock { lines in
            var line = JSONLine(after: exchange(&lines, with: []))
            add(event, to: &line)
            lines = (consume line).finished()
        }
    }

    /// Writes the lines that wait.
    func writeWaiting() {
        let lines = shared.waiting.withLock { exchange(&$0, with: []) }
        // The last line end is written with it.
        if !lines.isEmpty { write(String(decoding: lines.dropLast(), as: UTF8.self)) }
    }

    private func add(_ event: ServiceEvent, to line: inout JSONLine) {
        line.add("time", now())
        line.add("level", event.level.rawValue)
        line.add("event", event.name)
        let members = event.members.span
        for index in members.indices { add(members[index], of: event, to: &line) }
        add(event.subject, to: &line)
    }

    /// Writes a line.
    func callAsFunction(
        _ level: ServiceEvent.Level, _ name: String, _ members: [JSON.Member] = []
    ) {
        self(ServiceEvent(level, name, members))
    }

    private func add(_ subject: LogSubject, to line: inout JSONLine) {
        // A secret may have been sent in place of an id.
        if let id = subject.clientID { line.add("client_id", maskingSecrets(in: id.rawValue)) }
        if let id = subject.userID {
            if showsUserIDs {
                line.add("user_id", maskingSecrets(in: id.rawValue))
            } else {
                line.add("user_fingerprint", SecretText(id.rawValue).fingerprint)
            }
        }
        if let fingerprint = subject.fingerprint { line.add("token_fingerprint", fingerprint) }
        if let id = subject.requestID { line.add("apple_request_id", id) }
    }

    /// Masks values from callers.
    private func add(_ member: JSON.Member, of event: ServiceEvent, to line: inout JSONLine) {
        guard Self.isFreeText(member.name), let text = member.value.string else {
            return line.add(member)
        }
        let userIDs = [event.subject.userID?.rawValue, event.userID].compactMap(\.self)
        var shown = Array(words.shown(text).utf8)
        // By bytes, because a combining accent would hide the end of an id.
        for id in showsUserIDs ? [] : userIDs where !id.isEmpty {
            shown = shown.replacing(Array(id.utf8), by: Array(SecretText(id).fingerprint.utf8))
        }
        line.add(
            .init(
                member.name, .string(maskingSecrets(in: String(decoding: shown, as: UTF8.self)))))
    }

    private static func isFreeText(_ name: String) -> Bool {
        name.isExactly("message") || name.isExactly("reason")
    }
}
