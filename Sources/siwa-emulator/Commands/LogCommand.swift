internal import CommandTable
internal import LocalFiles
internal import SignInWithApple

/// `siwa-emulator log`: the requests as they come, and what was wrong with them.
struct LogCommand: Command {
    static let name = "log"
    static let abstract = "Show the requests that a running emulator received, and its verdicts."
    static let discussion = """
        Each line has the time by the emulator's clock, the status, the request, the client and \
        why it was answered so. With --follow it goes on with every request that comes, until \
        SIGINT or the emulator's end.
        """
    static let examples = [
        Example("siwa-emulator log ~/apple --follow", "Watch the emulator that serves ~/apple."),
        Example(
            "siwa-emulator log --url http://127.0.0.1:9500 --checks",
            "Show every check of the latest requests."),
    ]
    static let parameters: [Parameter<Self>] = [
        .operand("DIR", \.folder, help: "The folder that is served.", completion: .directory),
        .option(
            "url", \.url, value: "URL",
            help: "Where the emulator listens; without it, on the port of DIR."),
        .flag("follow", \.isFollowing, help: "Go on with the requests that come."),
        .flag("checks", \.showsChecks, help: "Show everything that was examined, in order."),
        .flag("json", \.isJSON, help: "Print a JSON object a line, as GET /emulator/requests."),
    ]

    var folder: String?
    var url: String?
    var isFollowing = false
    var showsChecks = false
    var isJSON = false

    func run(in console: Console) async throws {
        guard folder != nil || url != nil else {
            throw Failure.usage(
                "whose log is missing", hints: ["name the folder that is served, or give --url URL"]
            )
        }
        let source = try LogSource(folder: folder.map { Folder(path: $0) }, url: url)
        var last = 0
        repeat {
            let requests = try await source.requests(after: last)
            for request in requests {
                last = max(last, request["number"]?.integer ?? last)
                try console.print(text(of: request))
            }
            if isFollowing, requests.isEmpty { try await Task.sleep(for: .milliseconds(200)) }
        } while isFollowing
    }

    private func text(of request: JSON) -> String {
        guard !isJSON else { return request.text + "\n" }
        let line = LoggedRequest(request)
        return line.summary + (showsChecks ? line.checks : "")
    }
}

/// One request as a person reads it.
private struct LoggedRequest {
    private let json: JSON

    init(_ json: JSON) { self.json = json }

    /// `08:00:00  400  POST /auth/token  com.example.app  client_secret: expired 60 s ago`.
    var summary: String {
        let time = text("at").drop { $0 != "T" }.dropFirst().prefix(8)
        let status = json["status"]?.integer.map(String.init) ?? ""
        let words = [
            String(time), status, "\(text("method")) \(text("path"))", text("client_id"),
            text("grant_type"), text("verdict"), text("fault"),
        ]
        return words.filter { !$0.isEmpty }.joined(separator: "  ") + "\n"
    }

    /// A line for each check.
    var checks: String {
        (json["checks"]?.elements ?? []).map { check in
            let member = { (name: String) in Self.visible(check[name]?.string ?? "") }
            return "          \(member("outcome"))  \(member("name")): \(member("seen"))\n"
        }.joined()
    }

    private func text(_ name: String) -> String { Self.visible(json[name]?.string ?? "") }

    /// What a client sent must not steer the terminal.
    private static func visible(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    let isControl =
                        scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
                        || (0x202A...0x202E).contains(scalar.value)
                        || (0x2066...0x2069).contains(scalar.value)
                    return isControl ? "\u{FFFD}" : scalar
                }))
    }
}

/// The emulator whose log is read.
private struct LogSource {
    private let network: Network
    private let urls: [String]

    /// Without a URL, the emulator is looked for on the folder's port, with TLS and without.
    init(folder: Folder?, url: String?) throws {
        network = Network(folder: folder ?? Folder(path: "."))
        if let url {
            urls = [url.hasSuffix("/") ? String(url.dropLast()) : url]
        } else {
            let port = try folder?.emulator().port ?? 0
            urls = ["https://localhost:\(port)", "http://127.0.0.1:\(port)"]
        }
    }

    func requests(after number: Int) async throws -> [JSON] {
        var failure = ""
        for url in urls {
            let request = HTTPRequest(
                method: .get, url: "\(url)/emulator/requests?after=\(number)&limit=1000")
            do {
                let response = try await network.send(request, timeout: .seconds(10))
                guard response.status == 200,
                    let requests = try JSON(response.body)["requests"]?.elements
                else { throw Self.stranger(url) }
                return requests
            } catch let error as TransportError {
                failure = error.message
            } catch is JSONError {
                throw Self.stranger(url)
            }
        }
        throw Failure(
            code: "temporary", message: "no emulator answers at \(urls[0]): \(failure)",
            hints: ["start it, or name its URL with --url"], exitCode: .temporary)
    }

    private static func stranger(_ url: String) -> Failure {
        .settings("\(url) is not siwa-emulator", hints: ["give the URL that 'serve' printed"])
    }
}
