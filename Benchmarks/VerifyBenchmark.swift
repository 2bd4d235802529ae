import Glibc
import SIWALifecycle

extension Benchmark {
    /// Verifying a file of identity tokens into a file of results.
    static func verify(_ fixture: Fixture) throws -> Benchmark {
        let many = 150_000
        let few = 5_000
        try fixture.writeIdentityTokens([
            "tokens.txt": many / 100, "tokens.jsonl": many / 100, "few-tokens.txt": few / 100,
        ])
        let siwa = { (threads: Int, what: String, input: String, more: [String]) -> Row in
            Row(name: "siwa batch verify\(what) --concurrency \(threads)") {
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
            ])
    }
}
