import Glibc
import SIWALifecycle

// Short commands, started one after the other, beside the least that C does in their place.
extension Benchmark {
    /// Minting one client_secret.
    static func secret(_ fixture: Fixture) -> Benchmark {
        let key = fixture.file("AuthKey.p8")
        return Benchmark(
            name: "secret", title: "processes that mint one client_secret", unit: "starts",
            rows: [
                row("siwa secret", [fixture.program("siwa"), "secret"] + fixture.clientOptions),
                row("siwa --version", [fixture.program("siwa"), "--version"]),
                compiled(
                    "C, libcrypto", fixture.peer("once", linking: ["crypto"]),
                    ["mint"] + fixture.clientArguments),
                installed(
                    "openssl dgst, one signature", "openssl", ["dgst", "-sha256", "-sign", key]),
                Python.row("Python, PyJWT", needs: "jwt") { python in
                    try sample([python, "\(fixture.peers)/mint.py", key, "1"])
                },
            ], repetitions: repetitions,
            goals: [
                Goal(
                    .time, of: "siwa secret", against: "C, libcrypto", must: 1.25, stretch: 1.10)
            ])
    }

    /// Verifying one identity token. Needs the tokens of ``verify(_:)``.
    static func verifyOne(_ fixture: Fixture) throws -> Benchmark {
        let (keys, token) = (fixture.file("jwks.json"), fixture.file("token.txt"))
        return Benchmark(
            name: "verify-one", title: "processes that verify one identity token", unit: "starts",
            rows: [
                row(
                    "siwa verify --jwks",
                    [
                        fixture.program("siwa"), "verify", "@\(token)", "--jwks", keys,
                        "--client-id", Fixture.client.rawValue,
                    ]),
                compiled(
                    "C, libcrypto", fixture.peer("once", linking: ["crypto"]),
                    ["verify", keys, token, Fixture.client.rawValue]),
                Python.row("Python, PyJWT", needs: "jwt") { python in
                    try sample([
                        python, "\(fixture.peers)/verify.py", keys, token,
                        fixture.file("python.jsonl"),
                    ])
                },
            ], repetitions: repetitions,
            goals: [
                Goal(
                    .time, of: "siwa verify --jwks", against: "C, libcrypto", must: 1.50,
                    stretch: 1.10)
            ])
    }

    /// Minting a client_secret and sending one request with it, to the server of ``Server``.
    static func refresh(_ fixture: Fixture) throws -> Benchmark {
        let token = "r.0.0.nrzuu.AAAAAAAAAAAAAAAAAAAAAA"
        return Benchmark(
            name: "refresh", title: "processes that refresh one token over TLS", unit: "starts",
            rows: [
                row(
                    "siwa refresh",
                    [
                        fixture.program("siwa"), "refresh", "--token", token, "--base-url",
                        "https://localhost:\(Fixture.port)", "--ca-file", fixture.file("ca.pem"),
                        "--quiet",
                    ] + fixture.clientOptions),
                compiled(
                    "C, libcrypto and libcurl",
                    fixture.peer("once", "-DREFRESH", linking: ["crypto", "curl"]),
                    ["refresh"] + fixture.clientArguments + [
                        "https://localhost:\(Fixture.port)/auth/token", fixture.file("ca.pem"),
                        token,
                    ]),
                installed(
                    "curl, without minting", "curl",
                    [
                        "--silent", "--fail", "--http1.1", "--cacert", fixture.file("ca.pem"),
                        "--data", "token=\(token)",
                        "https://localhost:\(Fixture.port)/auth/token",
                    ]),
            ], repetitions: repetitions,
            goals: [
                Goal(
                    .time, of: "siwa refresh", against: "C, libcrypto and libcurl", must: 1.25,
                    stretch: 1.10)
            ])
    }

    private static let starts = 5
    private static let repetitions = 8

    private static func compiled(
        _ name: String, _ program: String?, _ arguments: [String]
    ) -> Row {
        guard let program else { return Row(name: name, run: nil) }
        return row(name, [program] + arguments)
    }

    private static func installed(
        _ name: String, _ program: String, _ arguments: [String]
    ) -> Row {
        guard let program = Child.installed(program) else { return Row(name: name, run: nil) }
        return row(name, [program] + arguments)
    }

    private static func row(_ name: String, _ arguments: [String]) -> Row {
        Row(name: name) { try sample(arguments) }
    }

    /// The first start is not measured: what ran before it had other files in the caches.
    private static func sample(_ arguments: [String]) throws -> Sample {
        _ = try Child.run(arguments)
        let runs = try (0..<starts).map { _ in try Child.run(arguments) }
        let seconds = runs.map(\.seconds).reduce(0, +)
        var sample = Sample(rate: Double(starts) / seconds)
        sample.cpu = runs.map(\.cpuSeconds).reduce(0, +) / Double(starts) * 1000
        sample.peak = runs.map(\.peak).max()
        return sample
    }
}

extension Fixture {
    /// How siwa's commands are told whose client_secret to mint.
    fileprivate var clientOptions: [String] {
        [
            "--key", file("AuthKey.p8"), "--key-id", "K1L2M3N4P5", "--team-id",
            Self.team.rawValue, "--client-id", Self.client.rawValue,
        ]
    }

    /// The same, for the program in C.
    fileprivate var clientArguments: [String] {
        [file("AuthKey.p8"), "K1L2M3N4P5", Self.team.rawValue, Self.client.rawValue]
    }

    /// Compiles a peer in C; nil where there is no compiler, or no header of a library.
    func peer(_ name: String, _ options: String..., linking libraries: [String]) -> String? {
        let program = file("\(name)-\(libraries.joined(separator: "-"))")
        guard let compiler = Child.installed("cc") ?? Child.installed("clang") else { return nil }
        let made = try? Child.run(
            [compiler, "-O2"] + options + ["\(peers)/\(name).c", "-o", program]
                + libraries.map { "-l\($0)" })
        return made.map { _ in program }
    }
}
