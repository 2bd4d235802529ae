internal import CommandTable
internal import SIWACrypto
internal import SignInWithApple

/// What a command says besides its result: on standard error, a line each.
struct Console: Sendable {
    private let world: World
    private let isQuiet: Bool
    private let isVerbose: Bool
    private let isJSON: Bool

    init(_ world: World, _ options: GlobalOptions) {
        self.world = world
        isQuiet = options.isQuiet
        isVerbose = options.isVerbose
        isJSON = options.json
    }

    /// Something the user should mend or beware of, though nothing failed.
    func warn(_ message: String) { say("warning", message) }

    /// Something that is as it may be, but worth knowing.
    func note(_ message: String) { say("note", message) }

    /// How a batch went: a note, or an object for machines.
    func summarize(_ text: String, _ members: [JSON.Member]) {
        guard isJSON else { return note(text) }
        guard !isQuiet else { return }
        world.errorLine(JSON.object([.init("summary", .object(members))]).safeText)
    }

    private func say(_ kind: String, _ message: String) {
        guard !isQuiet else { return }
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
        world.errorLine(line.safeText)
    }

    /// A line of `-v`. It shows what is sent by name only; bodies hold secrets.
    func trace(_ event: TraceEvent) {
        guard isVerbose else { return }
        let line = Self.line(of: event)
        write("trace", line, text: line)
    }

    private static func line(of event: TraceEvent) -> String {
        switch event {
        case .sending(let request, let names, let attempt):
            let parameters = names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
            let again = attempt > 1 ? ", attempt \(attempt)" : ""
            return "> \(request.method.rawValue) \(request.url)\(parameters)\(again)"
        case .answered(let response, let time):
            let id = response.requestID.map { ", request id \(printable($0))" } ?? ""
            return "< \(response.status) after \(time.inSeconds)\(id)"
        case .failed(let error, let time):
            return "< \(error.kind.code) after \(time.inSeconds): \(printable(error.message))"
        case .waiting(let delay): return "- waiting \(delay.inSeconds)"
        }
    }
}

extension JSON {
    /// On one line, with what could drive a terminal escaped; JSON itself demands less.
    var safeText: String {
        text.unicodeScalars.map { scalar in
            guard scalar.isTreacherous, scalar.value <= 0xFFFF else { return String(scalar) }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}

extension Unicode.Scalar {
    /// Whether it can drive a terminal, or change the order in which a line is read.
    fileprivate var isTreacherous: Bool {
        value < 0x20 || (0x7F..<0xA0).contains(value) || properties.generalCategory == .format
    }
}

extension Duration {
    /// `2 minutes`.
    var inMinutes: String {
        let minutes = components.seconds / 60
        return minutes == 1 ? "1 minute" : "\(minutes) minutes"
    }

    /// `0.123 s`.
    var inSeconds: String {
        let milliseconds =
            components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        let fraction = String(milliseconds % 1000)
        return "\(milliseconds / 1000)."
            + String(repeating: "0", count: 3 - fraction.count) + "\(fraction) s"
    }
}

/// A text from outside, without secrets and without what could drive a terminal, and short.
func printable(_ text: String, limit: Int = 200) -> String {
    let scalars = maskingSecrets(in: text).unicodeScalars
    let safe = scalars.prefix(limit).map { scalar in
        scalar.isTreacherous ? "?" : Character(scalar)
    }
    return String(safe) + (scalars.count > limit ? "…" : "")
}
