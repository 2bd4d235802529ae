import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// Processes of siwa-server on one database, which a test kills and starts again.
actor Replicas {
    private let fixture: ServerFixture
    private var processes: [ServerProcess] = []
    private(set) var kills = 0

    /// Starts them, each with an API of its own.
    init(_ fixture: ServerFixture, count: Int, _ more: [JSON.Member] = []) async throws {
        self.fixture = fixture
        for number in 0..<count {
            let socket = Self.socket(number, fixture)
            try fixture.configure(
                [.init("api", ["listen": .string("unix:" + socket)])] + more,
                as: "server\(number).json")
            processes.append(try await Self.start(number, fixture))
        }
    }

    private static func socket(_ number: Int, _ fixture: ServerFixture) -> String {
        fixture.apple.folder.path("api\(number).sock")
    }

    private static func start(
        _ number: Int, _ fixture: ServerFixture
    ) async throws -> ServerProcess {
        try await fixture.serve(environment: [
            "SIWA_CONFIG": fixture.apple.folder.path("apple/server\(number).json")
        ])
    }

    /// Kills one and starts it again.
    func restart(_ number: Int) async throws {
        try await processes[number].kill()
        kills += 1
        processes[number] = try await Self.start(number, fixture)
    }

    /// Where one serves its API, whether it is running or not.
    nonisolated func place(_ number: Int) -> String { "unix:" + Self.socket(number, fixture) }

    /// Calls the API until some replica has an answer that is final: a response other than 503.
    ///
    /// - Parameter first: the replica to begin with.
    nonisolated func settled(
        _ method: String, _ path: String, _ body: JSON? = nil, first: Int, of count: Int
    ) async throws -> HTTPAnswer {
        let fields = body == nil ? [] : ["Content-Type: application/json"]
        let request = HTTPAnswer.request(method, path, fields, body?.text ?? "")
        var number = first
        var last: HTTPAnswer?
        for _ in 0..<1200 {
            let answer = try? await HTTPAnswer.of(request, at: place(number % count))
            if let status = answer?.status, status != 503 { return try #require(answer) }
            last = answer ?? last
            number += 1
            try await Task.sleep(for: .milliseconds(100))
        }
        throw NeverSettled(description: "\(method) \(path): \(String(describing: last))")
    }

    /// No replica had a final answer.
    struct NeverSettled: Error, CustomStringConvertible {
        let description: String
    }
}
