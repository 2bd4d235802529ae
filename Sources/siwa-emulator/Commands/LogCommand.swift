internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAEmulator
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// `siwa-emulator log`: the requests of a running emulator, in the terminal.
struct LogCommand: Command {
    static let name = "log"
    static let abstract =
        "Show the requests that a running emulator received, with the reason for each answer."
    static let discussion = """
        Prints one line for each request: time, method and path, client, status, error, verdict. \
        It is the console at /emulator for a terminal. Secrets are never shown.

        --follow waits for an emulator that ends, and continues when it is started again.
        """
    static let examples = [
        Example("siwa-emulator log ~/apple --follow", "Watch the emulator of that folder."),
        Example(
            "siwa-emulator log ~/apple --checks --lines 1",
            "Show every check of the latest request."),
        Example(
            "siwa-emulator log --url http://127.0.0.1:9500 --json | jq .verdict",
            "Read the records of another emulator as JSON lines."),
    ]
    static let parameters: [Parameter<Self>] = [
        .operand(
            "DIR", \.folder, help: "The folder that is served; needed unless --url is given.",
            completion: .directory),
        .option(
            "url", \.url, value: "URL",
            help: "Where the emulator listens, unless DIR says so. https needs DIR for its ca.pem."),
        .flag("follow", \.follows, help: "Show each new request as it arrives, until interrupted."),
        .flag("json", \.isJSON, help: "Print each request as one line of JSON."),
        .flag("checks", \.showsChecks, help: "Show every check below its request."),
        .option("path", \.path, value: "PATH", help: "Show requests to this path only."),
        .option(
            "lines", \.lines, value: "N", help: "Begin with the latest N requests, 0 to 1000."),
    ]

    var folder: String?
    var url: String?
    var follows = false
    var isJSON = false
    var showsChecks = false
    var path: String?
    var lines = 20

    func run(in world: EmulatorWorld) async throws {
        guard (0...1000).contains(lines) else {
            throw Failure.usage(
                "--lines \(lines) is not 0 to 1000", hints: ["give a number up to 1000"])
        }
        try checkServer()
        let log = RemoteLog(
            transport: FolderTransport(folder: Folder(path: folder ?? ".")), path: path)
        guard let server = try server() else {
            let folder = folder ?? "DIR"
            throw Failure.settings(
                "no emulator serves '\(folder)'",
                hints: ["start it: siwa-emulator serve \(folder)", "or name another with --url"])
        }
        let end = try await log.latest(lines, at: server) { try show($0, world) }
        if follows { try await follow(log, from: end, world) }
    }

    /// Shows new requests until it is stopped. If the emulator ends, waits for its next start,
    /// perhaps on another port.
    private func follow(
        _ log: RemoteLog, from start: RemoteLog.Position, _ world: EmulatorWorld
    ) async throws {
        var (position, isConnected) = (start, true)
        while true {
            var next: RemoteLog.Position?
            if let server = try server() {
                next = try await log.next(after: position, at: server) { try show($0, world) }
            }
            if (next != nil) != isConnected {
                isConnected.toggle()
                world.note(
                    isConnected
                        ? "siwa-emulator: the emulator is back"
                        : "siwa-emulator: the emulator has ended; waiting for it to start again")
            }
            if let next {
                position = next
            } else {
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    private func checkServer() throws {
        guard url != nil || folder != nil else {
            throw Failure.usage(
                "DIR is missing", hints: ["name the folder that is served, or --url"])
        }
        guard let url, !url.hasPrefix("http://"), !url.hasPrefix("https://") else { return }
        throw Failure.usage(
            "--url '\(url)' is not an http or https URL", hints: ["give the URL that serve prints"])
    }

    /// The URL of the emulator; nil if it is not running.
    private func server() throws -> String? {
        try url ?? folder.flatMap { try Folder(path: $0).serverURL() }
    }

    private func show(_ record: JSON, _ world: EmulatorWorld) throws {
        try world.print(isJSON ? record.text + "\n" : RecordText(record).lines(showsChecks))
    }
}

/// One request as text for a terminal.
struct RecordText {
    private let record: JSON

    init(_ record: JSON) { self.record = record }

    /// The request on one line, with its checks below it if `showsChecks`.
    func lines(_ showsChecks: Bool) -> String {
        let parts = [
            String((text("at") ?? "").dropFirst(11).prefix(8)), text("method"), text("path"),
            text("grant_type"), text("client_id"), record["status"]?.integer.map { String($0) },
            text("error"), text("fault").map { "[\($0)]" }, text("verdict"),
        ]
        let line = parts.compactMap { $0 }.joined(separator: "  ").withoutControls
        guard showsChecks else { return line + "\n" }
        let checks = (record["checks"]?.elements ?? []).map { check in
            let outcome = check["outcome"]?.string ?? ""
            let seen = "\(check["name"]?.string ?? ""): \(check["seen"]?.string ?? "")"
            return "          \(outcome.padded(to: 6))  \(seen.withoutControls)\n"
        }
        return line + "\n" + checks.joined()
    }

    private func text(_ name: String) -> String? { record[name]?.string }
}
