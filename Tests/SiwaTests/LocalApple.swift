import CurlTransport
import SIWACrypto
import SignInWithApple
import TestSupport
import Testing

/// `siwa-emulator` as a process of its own, and `siwa` configured for it.
final class LocalApple: Sendable {
    let folder: TemporaryFolder
    let url: String
    private let server: RunningProgram
    private let control: CurlTransport

    /// A fresh folder, key and certificate, and a server on a port of its own.
    ///
    /// - Parameters:
    ///   - callback: where the website is, in place of `https://example.com/callback`.
    ///   - users: who signs in, in place of three people.
    init(
        usesTLS: Bool = true, callback: String? = nil, users: [JSON.Member] = []
    ) async throws {
        folder = try TemporaryFolder()
        let emulator = try Executable.product("siwa-emulator")
        let made = try await emulator.run("init", folder.path("apple"))
        try #require(made.exitCode == 0, "\(made)")
        if let callback {
            let file = String(decoding: try folder.contents("apple/emulator.json"), as: UTF8.self)
            try folder.write(
                "apple/emulator.json",
                file.replacing("https://example.com/callback", with: callback))
        }
        if !users.isEmpty {
            let file = try JSON(try folder.contents("apple/emulator.json"))
            let others = try #require(file.members).filter { $0.name != "users" }
            let changed = JSON.object(others + [JSON.Member("users", .object(users))])
            try folder.write("apple/emulator.json", changed.text)
        }
        server = try emulator.start(
            Executable.Call(
                [
                    "serve", folder.path("apple"), "--port", "0", "--ready-file",
                    folder.path("ready"),
                ] + (usesTLS ? ["--tls"] : []), limit: .seconds(1800)))
        let ready = folder.path("ready")
        let folder = folder
        try await eventually("the emulator is ready") {
            (try? folder.contents("ready"))?.isEmpty == false
        }
        url =
            String(decoding: try folder.contents("ready"), as: UTF8.self)
            .split(separator: "\n").first.map(String.init) ?? ready
        control = try CurlTransport(authorityFile: folder.path("apple/ca.pem"))
    }

    /// A test that failed before it stopped the server leaves none behind.
    deinit { server.signal(9) }

    /// Ends the server as an operator would.
    func stop() async throws -> ProgramResult {
        server.signal(15)
        return try await server.result()
    }

    /// Runs `siwa` against this Apple.
    func siwa(
        _ arguments: String..., input: String = "", environment: [String: String] = [:]
    ) async throws -> ProgramResult {
        try await siwa(arguments, input: input, environment: environment)
    }

    func siwa(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) async throws -> ProgramResult {
        try await start(arguments, input: input, environment: environment).result()
    }

    /// Starts `siwa` against this Apple.
    ///
    /// - Parameter isPolite: lets every other process go first.
    func start(
        _ arguments: [String], input: String = "", environment: [String: String] = [:],
        isPolite: Bool = false, limit: Duration = .seconds(180)
    ) throws -> RunningProgram {
        let siwa = try Executable.product("siwa")
        let nice = isPolite ? Executable.installed("nice") : nil
        let settings = [
            "SIWA_CONFIG": folder.path("apple/config.json"), "SIWA_BASE_URL": url,
            "XDG_CACHE_HOME": folder.path("cache"),
        ]
        return try (nice ?? siwa).start(
            Executable.Call(
                (nice == nil ? [] : ["-n", "19", siwa.path]) + arguments,
                environment: settings.merging(environment) { $1 },
                input: .bytes(Array(input.utf8)), limit: limit))
    }

    /// A control request, such as `post("faults", ["status": 503])`.
    @discardableResult
    func post(_ name: String, _ body: JSON = [:]) async throws -> JSON {
        try await control(.post, name, body)
    }

    /// Signs somebody in, and answers the code.
    func code(for client: String = "com.example.app", _ extra: [JSON.Member] = []) async throws
        -> String
    {
        let members = [JSON.Member("client_id", .string(client))] + extra
        return try #require(try await post("codes", .object(members))["code"]?.string)
    }

    /// Opens the page of `/auth/authorize`, sends its form as `person` fills it in, and answers
    /// the form that leads back to the client: what a browser does.
    func signIn(_ request: [(String, String)], as person: [String: String]) async throws -> HTMLForm
    {
        let query = Form(request.map { ($0, .plain($1)) }).encoded()
        let page = try await fetch(.get, "/auth/authorize?\(SecretText(query).revealed())")
        var form = try #require(HTMLForm(page))
        for (name, value) in person { form[name] = value }
        let body = Form(form.fields.map { ($0.name, .plain($0.value)) }).encoded()
        return try #require(HTMLForm(try await fetch(.post, form.action, body)))
    }

    private func fetch(
        _ method: HTTPRequest.Method, _ target: String, _ body: SecretBytes = SecretBytes([])
    ) async throws -> [UInt8] {
        let response = try await control.send(
            HTTPRequest(
                method: method, url: url + target,
                fields: [HTTPField("Content-Type", Form.contentType)], body: body),
            timeout: .seconds(20))
        try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
        return response.body
    }

    /// What Apple's endpoints received: those of `path`.
    func requests(to path: String = "/auth/token") async throws -> [JSON] {
        var all: [JSON] = []
        while true {
            let last = all.last?["number"]?.integer ?? 0
            let query = "requests?path=\(path)&after=\(last)&limit=1000"
            let page = try #require(try await control(.get, query, nil)["requests"]?.elements)
            guard !page.isEmpty else { return all }
            all += page
        }
    }

    /// What Apple's endpoints received behind the request of that number, oldest first.
    func requests(after number: Int, limit: Int) async throws -> [JSON] {
        try #require(
            try await control(.get, "requests?after=\(number)&limit=\(limit)", nil)["requests"]?
                .elements)
    }

    private func control(_ method: HTTPRequest.Method, _ name: String, _ body: JSON?) async throws
        -> JSON
    {
        let response = try await control.send(
            HTTPRequest(
                method: method, url: "\(url)/emulator/\(name)",
                fields: [HTTPField("Content-Type", "application/json")],
                body: SecretBytes(body?.bytes ?? [])), timeout: .seconds(20))
        try #require(
            response.status == 200, "\(name): \(String(decoding: response.body, as: UTF8.self))")
        return try JSON(response.body)
    }
}

extension ProgramResult {
    /// Standard output, read as JSON.
    var json: JSON { get throws { try JSON(outputBytes) } }

    /// The hints of an error, in their order.
    var hints: [String] {
        errors.split(separator: "\n").filter { $0.hasPrefix("hint: ") }.map {
            String($0.dropFirst(6))
        }
    }
}
