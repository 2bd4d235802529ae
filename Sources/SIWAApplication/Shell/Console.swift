internal import SIWACommandTable
internal import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle

/// The messages of a command besides its result: on standard error, one line each.
package struct Console: Sendable {
    private let world: World
    private let isQuiet: Bool
    private let isVerbose: Bool
    private let isJSON: Bool

    package init(_ world: World, _ options: OutputOptions) {
        self.world = world
        isQuiet = options.isQuiet
        isVerbose = options.isVerbose
        isJSON = options.json
    }

    /// Prints a warning: something the user should fix or know, although nothing failed.
    package func warn(_ message: String) { say("warning", message) }

    /// Prints a note.
    package func note(_ message: String) { say("note", message) }

    /// Prints the summary of a batch: a note, or an object for machines.
    package func summarize(_ text: String, _ members: [JSON.Member]) {
        guard isJSON else { return note(text) }
        guard !isQuiet else { return }
        world.errorLine(JSON.object([.init("summary", .object(members))]).text)
    }

    private func say(_ kind: String, _ message: String) {
        guard !isQuiet else { return }
        let message = world.words.shown(message)
        if let note = world.note { return note(printable(message, limit: 1000)) }
        let color: Terminal.Color? = kind == "warning" ? .yellow : nil
        let head = world.terminal.errors.painted("siwa: \(kind):", color)
        write(kind, message, text: "\(head) \(printable(message, limit: 1000))")
    }

    private func write(_ kind: String, _ message: String, text: String) {
        guard isJSON else { return world.errorLine(text) }
        let line: JSON = .object([
            .init("time", .string(world.clocks.now().rfc3339)),
            .init(kind, .string(maskingSecrets(in: message))),
        ])
        world.errorLine(line.text)
    }

    /// Prints the lines of a program that siwa starts as objects for machines; nil without
    /// `--json`, where the program writes to standard error itself.
    package var deployedLines: (@Sendable (String) -> Void)? {
        guard isJSON else { return nil }
        return { [world] line in
            let text = JSON.string(maskingSecrets(in: line))
            world.errorLine(JSON.object([.init("deploy", .object([.init("line", text)]))]).text)
        }
    }

    /// Prints the events of requests for `-v`; nil without it.
    package var trace: RequestTrace? {
        guard isVerbose else { return nil }
        return { event in show(event) }
    }

    /// Prints a line of `-v`, without bodies, which contain secrets.
    private func show(_ event: TraceEvent) {
        let line = Self.line(of: event)
        write("trace", line, text: line)
    }

    private static func line(of event: TraceEvent) -> String {
        switch event {
        case .sending(let request, let attempt):
            let names = request.parameterNames
            let parameters = names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
            let again = attempt > 1 ? ", attempt \(attempt)" : ""
            return "> \(request.method.rawValue) \(request.url)\(parameters)\(again)"
        case .answered(let response, let time):
            let id = response.requestID.map { ", request id \(printable($0))" } ?? ""
            return "< \(response.status) after \(time.measured)\(id)"
        case .failed(let error, let time):
            return
                "< \(error.kind.code.rawValue) after \(time.measured): \(printable(error.message))"
        case .waiting(let delay): return "- waiting \(delay.measured)"
        }
    }
}
