import Glibc
import Lifecycle

extension Benchmark {
    /// Starting short commands, one after the other. Needs the tokens of ``verify(_:)``.
    static func start(_ fixture: Fixture) throws -> Benchmark {
        let siwa = fixture.program("siwa")
        let key = fixture.file("AuthKey.p8")
        let mint = [
            siwa, "secret", "--key", key, "--key-id", "K1L2M3N4P5", "--team-id",
            Fixture.team.rawValue, "--client-id", Fixture.client.rawValue,
        ]
        let verify = [
            siwa, "verify", "@\(fixture.file("token.txt"))", "--jwks",
            fixture.file("jwks.json"), "--client-id", Fixture.client.rawValue,
        ]
        return Benchmark(
            title: "processes started, one after the other", unit: "starts",
            rows: [
                row("siwa secret", mint), row("siwa verify --jwks", verify),
                row("siwa --version", [siwa, "--version"]),
                openssl("openssl dgst, one signature", ["dgst", "-sha256", "-sign", key]),
                openssl("openssl version", ["version"]),
                Python.row("Python, PyJWT, one secret", needs: "jwt") { python in
                    try sample([python, "\(fixture.peers)/mint.py", key, "1"])
                },
            ])
    }

    private static let starts = 40

    private static func openssl(_ name: String, _ arguments: [String]) -> Row {
        guard let openssl = Child.installed("openssl") else { return Row(name: name, run: nil) }
        return row(name, [openssl] + arguments)
    }

    private static func row(_ name: String, _ arguments: [String]) -> Row {
        Row(name: name) { try sample(arguments) }
    }

    private static func sample(_ arguments: [String]) throws -> Sample {
        let runs = try (0..<starts).map { _ in try Child.run(arguments) }
        let seconds = runs.map(\.seconds).reduce(0, +)
        var sample = Sample(rate: Double(starts) / seconds)
        sample.cpu = runs.map(\.cpuSeconds).reduce(0, +) / Double(starts) * 1000
        sample.peak = runs.map(\.peak).max()
        return sample
    }
}
