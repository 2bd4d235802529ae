internal import AppleEmulator
internal import CommandTable
internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// `siwa-emulator log`: the requests of a running emulator, in the terminal.
struct LogCommand: Command {
    static let name = "log"
    static let abstract =
        "Show the requests that a running emulator received, and why it answered so."
    static let discussion = """
        One line a request: time, method and path, client, status, error, verdict. The same as the \
        console at /emulator, where a browser is not at hand. Secrets are never shown.
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
        .flag("follow", \.follows, help: "Go on with each new request until interrupted."),
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

    func run(in console: Console) async throws {
        guard (0...1000).contains(lines) else {
            throw Failure.usage(
                "--lines \(lines) is not 0 to 1000", hints: ["give a number up to 1000"])
        }
        let log = RemoteLog(
            url: try server(), network: Network(folder: Folder(path: folder ?? ".")))
        var last = try await log.latest(lines, path) { try show($0, console) }
        while follows {
            last = try await log.following(last, path) { try show($0, console) }
        }
    }

    private func server() throws -> String {
        if let url {
            guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
                throw Failure.usage(
                    "--url '\(url)' is not an http or https URL",
                    hints: ["give the URL that serve prints"])
            }
            return url
        }
        guard let folder else {
            throw Failure.usage(
                "DIR is missing", hints: ["name the folder that is served, or --url"])
        }
        return try Folder(path: folder).serverURL()
    }

    private func show(_ record: JSON, _ console: Console) throws {
        try console.print(isJSON ? record.text + "\n" : RecordText(record).lines(showsChecks))
    }
}

/// One request as text for a terminal.
struct RecordText {
    private let record: JSON

    init(_ record: JSON) { self.record = record }

    /// The request on one line, with its checks below it when they are wanted.
    func lines(_ showsChecks: Bool) -> String {
        let parts = [
            String((text("at") ?? "").dropFirst(11).prefix(8)), text("method"), text("path"),
            text("grant_type"), text("client_id"), record["status"]?.integer.map { String($0) },
            text("error"), text("fault").map { "[\($0)]" }, text("verdict"),
        ]
        let line = Self.printable(parts.compactMap { $0 }.joined(separator: "  "))
        guard showsChecks else { return line + "\n" }
        let checks = (record["checks"]?.elements ?? []).map { check in
            let outcome = check["outcome"]?.string ?? ""
            let seen = "\(check["name"]?.string ?? ""): \(check["seen"]?.string ?? "")"
            return "          \(outcome.padded(to: 6))  \(Self.printable(seen))\n"
        }
        return line + "\n" + checks.joined()
    }

    private func text(_ name: String) -> String? { record[name]?.string }

    /// A client's text must not drive the terminal.
    private static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: "\u{FFFD}"
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
