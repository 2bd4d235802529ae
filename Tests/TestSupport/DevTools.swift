import Glibc
import SIWAJOSE

/// The Chrome DevTools Protocol over `--remote-debugging-pipe`: commands go into the browser's
/// descriptor 3, answers and events come out of 4, each one JSON and a zero byte.
final class DevTools: Sendable {
    private let commands: Descriptor
    private let answers = Locked(Answers())

    private struct Answers {
        var lastID = 0
        var awaited: Set<Int> = []
        var waiting: [Int: JSON] = [:]
        var events: [JSON] = []
        var hasEnded = false
    }

    /// The events of one kind so far, such as `Log.entryAdded`, of one page.
    func events(_ method: String, in session: String) -> [JSON] {
        answers.withLock(\.events).filter {
            $0["method"] == .string(method) && $0["sessionId"] == .string(session)
        }.compactMap { $0["params"] }
    }

    /// Removes the events of a page that is closed.
    func forget(_ session: String) {
        answers.withLock { $0.events.removeAll { $0["sessionId"] == .string(session) } }
    }

    init(commands: Descriptor, messages: Descriptor) throws {
        self.commands = commands
        try startThread { [answers] in
            Self.read(messages) { message in
                answers.withLock { answers in
                    // What has no id is an event.
                    if let id = message["id"]?.integer {
                        if answers.awaited.remove(id) != nil { answers.waiting[id] = message }
                    } else {
                        answers.events.append(message)
                    }
                }
            }
            answers.withLock { $0.hasEnded = true }
        }
    }

    /// Sends a command and waits for what it answers.
    ///
    /// - Parameter session: the page it is for; nil means the browser.
    func call(_ method: String, _ parameters: JSON = [:], in session: String? = nil) async throws
        -> JSON
    {
        let id = try write(method, parameters, session, isAwaited: true)
        var answer: JSON?
        try await eventually("the browser's answer to \(method)") {
            try answers.withLock { answers in
                answer = answers.waiting.removeValue(forKey: id)
                if answer == nil, answers.hasEnded { throw BrowserFailure("it has ended") }
            }
            return answer != nil
        }
        guard let result = answer?["result"] else {
            throw BrowserFailure("\(method): \(answer?["error"]?.text ?? "no result")")
        }
        return result
    }

    /// Sends a command to the browser without waiting for what it answers.
    func send(_ method: String, _ parameters: JSON) {
        _ = try? write(method, parameters, nil, isAwaited: false)
    }

    private func write(
        _ method: String, _ parameters: JSON, _ session: String?, isAwaited: Bool
    ) throws -> Int {
        let id = answers.withLock { answers in
            answers.lastID += 1
            if isAwaited { answers.awaited.insert(answers.lastID) }
            return answers.lastID
        }
        var members = [
            JSON.Member("id", .integer(id)), JSON.Member("method", .string(method)),
            JSON.Member("params", parameters),
        ]
        if let session { members.append(JSON.Member("sessionId", .string(session))) }
        try commands.write(JSON.object(members).bytes + [0])
        return id
    }

    private static func read(_ messages: Descriptor, _ body: (JSON) -> Void) {
        var pending: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let got = Glibc.read(messages.number, &chunk, chunk.count)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return }
            pending += chunk[..<got]
            while let end = pending.firstIndex(of: 0) {
                if let message = try? JSON(Array(pending[..<end])) { body(message) }
                pending.removeSubrange(...end)
            }
        }
    }
}

/// The browser did not do what a test asked of it.
package struct BrowserFailure: Error, CustomStringConvertible {
    /// What it was, and what came of it.
    package let description: String

    init(_ description: String) { self.description = "the browser: \(description)" }
}
