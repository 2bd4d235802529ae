import Foundation
import SIWACrypto
import SIWACurlTransport
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

/// A running `siwa-emulator`, and `siwa` configured for it.
final class LocalApple: Sendable {
    /// A fresh one; `apple` in it is what the emulator made.
    let folder: TemporaryFolder
    private let process: EmulatorProcess
    /// Whether a reset makes the process as new.
    private let isReusable: Atomic<Bool>

    var url: String { process.url }

    /// - Parameters:
    ///   - callback: where the website is, in place of `https://example.com/callback`.
    ///   - users: who signs in, beside or in place of three people.
    ///   - changesKeys: whether the test changes Apple's keys, but not by ``post(_:_:)``.
    init(
        usesTLS: Bool = true, callback: String? = nil, users: [JSON.Member] = [],
        changesKeys: Bool = false
    ) async throws {
        // Many users are faster read from a file than added one by one.
        if callback != nil || users.count > 100 {
            process = try await EmulatorProcess(usesTLS: usesTLS) { folder in
                try Self.configure(folder, callback: callback, users: users)
            }
            isReusable = Atomic(false)
        } else {
            process = try await EmulatorProcess.shared(usesTLS: usesTLS)
            isReusable = Atomic(!changesKeys)
            for user in users {
                let members = [JSON.Member("name", .string(user.name))] + (user.value.members ?? [])
                _ = try await process.control(.post, "users", .object(members))
            }
        }
        folder = try TemporaryFolder()
        try Self.copy(process.folder.path("apple"), to: folder.path("apple"))
    }

    /// Copies a folder of an emulator that runs, without the temporary file of its address.
    private static func copy(_ source: String, to target: String) throws {
        let files = FileManager.default
        try files.createDirectory(atPath: target, withIntermediateDirectories: false)
        for name in try files.contentsOfDirectory(atPath: source)
        where !name.hasPrefix("server.url.") {
            try files.copyItem(atPath: "\(source)/\(name)", toPath: "\(target)/\(name)")
        }
    }

    private static func configure(
        _ folder: TemporaryFolder, callback: String?, users: [JSON.Member]
    ) throws {
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
    }

    deinit { if isReusable.load(ordering: .relaxed) { process.giveBack() } }

    /// Ends the server as an operator would.
    func stop() async throws -> ProgramResult {
        isReusable.store(false, ordering: .relaxed)
        process.program.signal(15)
        return try await process.program.result()
    }

    /// Serves the same folder on the same port, after ``stop()``.
    func serveAgain() throws -> RunningProgram {
        let port = String(url.split(separator: ":").last ?? "")
        return try Executable.product("siwa-emulator").start(
            Executable.Call(
                ["serve", folder.path("apple"), "--port", port], limit: .seconds(300)))
    }

    /// Posts a form, and ignores the response.
    func send(_ path: String, _ form: Form, agent: String) async throws {
        _ = try await process.transport.send(
            HTTPRequest(
                method: .post, url: url + path,
                fields: [
                    HTTPField("Content-Type", Form.contentType), HTTPField("User-Agent", agent),
                ], body: form.encoded()), timeout: .seconds(20))
    }

    /// Runs `siwa` with this emulator.
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

    /// Starts `siwa` with this emulator.
    ///
    /// - Parameter isPolite: runs with the lowest priority.
    func start(
        _ arguments: [String], input: String = "", environment: [String: String] = [:],
        output: ChildOutput = .captured, isPolite: Bool = false, limit: Duration = .seconds(180)
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
                input: .bytes(Array(input.utf8)), output: output, limit: limit))
    }

    /// A control request, such as `post("faults", ["status": 503])`.
    @discardableResult
    func post(_ name: String, _ body: JSON = [:]) async throws -> JSON {
        if name.hasPrefix("keys/") { isReusable.store(false, ordering: .relaxed) }
        return try await process.control(.post, name, body)
    }

    /// Signs a user in, and returns the code.
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
        let response = try await process.transport.send(
            HTTPRequest(
                method: method, url: url + target,
                fields: [HTTPField("Content-Type", Form.contentType)], body: body),
            timeout: .seconds(20))
        try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
        return response.body
    }

    /// The notifications that were made, with every attempt to deliver them.
    func sentNotifications() async throws -> [JSON] {
        var all: [JSON] = []
        while true {
            let last = all.last?["number"]?.integer ?? 0
            let page = try #require(
                try await process.control(
                    .get, "notifications/sent?after=\(last)&limit=1000", nil)["notifications"]?
                    .elements)
            guard !page.isEmpty else { return all }
            all += page
        }
    }

    /// What Apple's endpoints received: those of `path`.
    func requests(to path: String = "/auth/token") async throws -> [JSON] {
        var all: [JSON] = []
        while true {
            let last = all.last?["number"]?.integer ?? 0
            let query = "requests?path=\(path)&after=\(last)&limit=1000"
            let page = try #require(
                try await process.control(.get, query, nil)["requests"]?.elements)
            guard !page.isEmpty else { return all }
            all += page
        }
    }

    /// What Apple's endpoints received after the request of that number, oldest first.
    func requests(after number: Int, limit: Int) async throws -> [JSON] {
        try #require(
            try await process.control(.get, "requests?after=\(number)&limit=\(limit)", nil)[
                "requests"]?
                .elements)
    }
}

extension ProgramResult {
    /// Standard output, read as JSON.
    var json: JSON { get throws { try JSON(outputBytes) } }

    /// The hints of an error, in their order, without the one that names the catalogue.
    var hints: [String] {
        errors.split(separator: "\n")
            .filter { $0.hasPrefix("hint: ") && !$0.hasPrefix("hint: see 'siwa help errors") }
            .map { String($0.dropFirst(6)) }
    }
}
