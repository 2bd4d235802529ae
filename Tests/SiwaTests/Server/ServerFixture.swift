import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// A vault beside an emulated Apple, and `siwa-server` processes that serve it.
struct ServerFixture: Sendable {
    let vault: VaultFixture
    var apple: LocalApple { vault.apple }

    /// Makes the vault; its users have no tokens yet.
    init(
        _ backend: VaultBackend = .sqlite, users: Int = 3, on server: PostgresServer? = nil
    ) async throws {
        vault = try await VaultFixture(
            backend, Population(usual: users, all: .migrates), on: server)
    }

    /// The usual listeners: ports that are free, and a Unix socket.
    var listeners: [JSON.Member] {
        [
            .init("notifications", ["listen": "127.0.0.1:0"]),
            .init("api", ["listen": .string("unix:" + apple.folder.path("api.sock"))]),
            .init("metrics", ["listen": "127.0.0.1:0"]),
        ]
    }

    /// Writes a configuration with the emulator's profiles and an object `server`.
    @discardableResult
    func configure(_ server: [JSON.Member], as name: String = "server.json") throws -> String {
        let file = try JSON(try apple.folder.contents("apple/config.json"))
        let members = try #require(file.members)
        return try apple.folder.write(
            "apple/\(name)", JSON.object(members + [.init("server", .object(server))]).text)
    }

    /// What every run of `siwa-server` needs.
    var environment: [String: String] {
        vault.environment.merging(
            [
                "SIWA_CONFIG": apple.folder.path("apple/server.json"), "SIWA_BASE_URL": apple.url,
                "XDG_CACHE_HOME": apple.folder.path("cache"),
                "STATE_DIRECTORY": apple.folder.path,
            ]
        ) { $1 }
    }

    /// Runs `siwa-server` to its end.
    func run(
        _ arguments: String..., environment more: [String: String] = [:]
    ) async throws -> ProgramResult {
        try await Executable.product("siwa-server").run(
            Executable.Call(
                arguments, environment: environment.merging(more) { $1 }, limit: .seconds(120)))
    }

    /// Starts `siwa-server serve`, and waits until it serves.
    ///
    /// - Parameters:
    ///   - settings: the object `server`; nil keeps the file that is there.
    ///   - wrapping: a program, with arguments, that starts it.
    func serve(
        _ settings: [JSON.Member]? = nil, environment more: [String: String] = [:]
    ) async throws -> ServerProcess {
        if let settings { try configure(settings) }
        let program = try Executable.product("siwa-server").start(
            Executable.Call(
                ["serve"], environment: environment.merging(more) { $1 }, limit: .seconds(7200)))
        return try await ServerProcess(program)
    }

    /// Applies an event to a user, and lets the emulator post it.
    ///
    /// - Returns: the statuses that were answered, and how often.
    func notify(
        _ type: String, of user: Int = 1, at url: String, _ more: [JSON.Member] = []
    ) async throws -> [String: Int] {
        let answer = try await apple.post(
            "notifications",
            .object(
                [
                    .init("type", .string(type)),
                    .init("user", .string(vault.people.name(user))), .init("url", .string(url)),
                    .init("count", 1), .init("attempts", 1),
                ].filter { own in !more.contains { $0.name == own.name } } + more))
        return Dictionary(
            (answer["attempts"]?.members ?? []).map { ($0.name, $0.value.integer ?? 0) },
            uniquingKeysWith: +)
    }

    /// What Apple would post about a user, without posting it.
    func payload(_ type: String, of user: Int = 1) async throws -> String {
        let answer = try await apple.post(
            "notifications",
            ["type": .string(type), "user": .string(vault.people.name(user))])
        return try #require(answer["payload"]?.string)
    }

    /// The events of the inbox, as `siwa inbox list` shows them.
    func inbox(_ more: [String: String] = [:]) async throws -> [JSON] {
        let result = try await apple.siwa(
            "inbox", "list", "--json", "--limit", "1000000",
            environment: vault.environment.merging(more) { $1 })
        try #require(result.exitCode == 0, "\(result)")
        return try #require(try JSON(text: result.output)["events"]?.elements)
    }
}

/// A `siwa-server` that serves.
final class ServerProcess: Sendable {
    let program: RunningProgram
    /// Where its listeners are: `127.0.0.1:8765`, `unix:PATH`.
    private let listeners: [String: String]

    /// Waits until it serves.
    init(_ program: RunningProgram) async throws {
        self.program = program
        var started: JSON?
        try await eventually("siwa-server serves") {
            started = try Self.events(program).first { $0["event"] == "started" }
            let errors = try program.errorsSoFar()
            try #require(started != nil || !program.hasEnded, "\(errors)")
            return started != nil
        }
        listeners = Dictionary(
            (started?["listeners"]?.members ?? []).map { ($0.name, $0.value.string ?? "") },
            uniquingKeysWith: { $1 })
    }

    deinit { program.end() }

    private static func events(_ program: RunningProgram) throws -> [JSON] {
        try program.errorsSoFar().split(separator: "\n").compactMap { try? JSON(text: String($0)) }
    }

    /// The lines of its log.
    func log(_ event: String? = nil) throws -> [JSON] {
        try Self.events(program).filter { event == nil || $0["event"]?.string == event }
    }

    /// Where a listener is.
    func place(_ listener: String) throws -> String { try #require(listeners[listener]) }

    /// Where Apple posts.
    var notificationURL: String {
        get throws { "http://\(try place("notifications"))/apple/notifications" }
    }

    /// Sends a request to a listener, each on a connection of its own.
    func call(
        _ listener: String, _ method: String, _ path: String, _ fields: [String] = [],
        body: String = ""
    ) async throws -> HTTPAnswer {
        try await HTTPAnswer.of(
            HTTPAnswer.request(method, path, fields, body), at: try place(listener))
    }

    /// Posts what should be a notification.
    func post(_ body: String) async throws -> HTTPAnswer {
        try await call("notifications", "POST", "/apple/notifications", body: body)
    }

    /// The value of a metric, by its name with its labels.
    func metric(_ name: String) async throws -> Double? {
        let text = try await call("metrics", "GET", "/metrics").body
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        return line.flatMap { Double($0.dropFirst(name.count + 1)) }
    }

    /// Ends it as a service manager does.
    func stop() async throws -> ProgramResult {
        program.signal(15)
        let result = try await program.result()
        #expect(typeNames(in: result.errors) == [])
        return result
    }

    /// Kills it.
    func kill() async throws {
        program.signal(9)
        _ = try await program.result()
    }
}
