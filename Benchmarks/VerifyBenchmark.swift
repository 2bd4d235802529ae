import Dispatch
import Glibc
import SIWACrypto
import SIWALifecycle
import SIWASystem
import SignInWithApple
import Synchronization

extension Benchmark {
    private static let library = "siwa's library, one call after another"

    private static func name(_ threads: Int, _ what: String) -> String {
        "siwa batch verify\(what) --concurrency \(threads)"
    }

    private static func goal(
        _ threads: Int, _ what: String, must: Double, stretch: Double
    ) -> Goal {
        Goal(
            .rate, of: name(threads, what), against: "openssl speed rsa2048, verifications alone",
            must: must, stretch: stretch)
    }

    /// Verifying a file of identity tokens into a file of results.
    static func verify(_ fixture: Fixture) throws -> Benchmark {
        let many = 60_000
        let few = 5_000
        try fixture.writeIdentityTokens([
            "tokens.txt": many, "tokens.jsonl": many, "few-tokens.txt": few,
        ])
        let siwa = { (threads: Int, what: String, input: String, more: [String]) -> Row in
            Row(name: name(threads, what)) {
                unlink(fixture.file("verified.jsonl"))
                return Sample(
                    many,
                    try Child.run(
                        [
                            fixture.program("siwa"), "batch", "verify", "--input",
                            fixture.file(input), "--output", fixture.file("verified.jsonl"),
                            "--jwks", fixture.file("jwks.json"), "--client-id",
                            Fixture.client.rawValue, "--concurrency", "\(threads)", "--quiet",
                        ] + more))
            }
        }
        return Benchmark(
            name: "verify", title: "identity tokens verified, from file to file", unit: "tokens",
            rows: [
                siwa(1, "", "tokens.txt", []), siwa(2, "", "tokens.txt", []),
                siwa(1, ", JSON lines,", "tokens.jsonl", []),
                siwa(1, " --only refused", "tokens.txt", ["--only", "refused,failed,invalid"]),
                Row(name: library) {
                    try LibraryVerifier(fixture).sample(fixture.file("tokens.txt"))
                },
                OpenSSLSpeed.row("rsa2048", column: 4, "verifications alone"),
                Python.row("Python, PyJWT", needs: "jwt") { python in
                    Sample(
                        few,
                        try Child.run([
                            python, "\(fixture.peers)/verify.py", fixture.file("jwks.json"),
                            fixture.file("few-tokens.txt"), fixture.file("python.jsonl"),
                        ]))
                },
            ],
            goals: [
                goal(1, "", must: 0.70, stretch: 0.80),
                goal(1, ", JSON lines,", must: 0.65, stretch: 0.75),
                goal(1, " --only refused", must: 0.75, stretch: 0.85),
                Goal(
                    .rate, of: library, against: "openssl speed rsa2048, verifications alone",
                    must: 0.70, stretch: 0.80),
                Goal(
                    .rate, of: name(2, ""), against: name(1, ""), must: 1.8, stretch: 1.9),
            ])
    }
}

/// A client of the library that has Apple's keys, as a server has it.
private struct LibraryVerifier: Sendable {
    private let apple: SignInWithAppleClient

    init(_ fixture: Fixture) throws {
        apple = try SignInWithAppleClient(
            teamID: Fixture.team.rawValue, clientID: Fixture.client.rawValue,
            key: ClientSecretKey(
                pem: try text(of: fixture.file("AuthKey.p8")), id: Fixture.keyID.rawValue),
            transport: NoTransport(),
            appleKeys: .given(try text(of: fixture.file("jwks.json"))))
    }

    /// Verifies the tokens of a file, of which each line is one.
    func sample(_ path: String) throws -> Sample {
        let tokens = try text(of: path).split(separator: "\n").map(String.init)
        let outcome = Outcome()
        Task.detached {
            do {
                outcome.set(.success(try await self.seconds(tokens)))
            } catch {
                outcome.set(.failure(error))
            }
        }
        let seconds = try outcome.waited()
        return Sample(rate: Double(tokens.count) / seconds)
    }

    private func seconds(_ tokens: [String]) async throws -> Double {
        for token in tokens.prefix(1000) { try await apple.verify(token) }
        let start = now()
        for token in tokens { try await apple.verify(token) }
        return now() - start
    }

    /// What a task came to, for a thread that waits.
    private final class Outcome: Sendable {
        private let result = Mutex<Result<Double, any Error>?>(nil)
        private let isKnown = DispatchSemaphore(value: 0)

        func set(_ result: Result<Double, any Error>) {
            self.result.withLock { $0 = result }
            isKnown.signal()
        }

        func waited() throws -> Double {
            isKnown.wait()
            guard let result = result.withLock({ $0 }) else {
                throw BenchmarkError("the library verified nothing")
            }
            return try result.get()
        }
    }

    private struct NoTransport: SignInWithApple.Transport {
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            throw TransportError("nothing is sent", requestMayHaveLeft: false)
        }
    }
}

private func text(of path: String) throws -> String {
    String(decoding: try readFile(path, limit: 1 << 30).contents.revealed(), as: UTF8.self)
}
