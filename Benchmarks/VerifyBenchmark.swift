import Glibc
import SIWALifecycle

extension Benchmark {
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
                    .rate, of: name(2, ""), against: name(1, ""), must: 1.8, stretch: 1.9),
            ])
    }
}
