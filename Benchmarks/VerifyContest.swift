import Glibc
import SignInWithApple

extension Contest {
    /// Verifying a file of identity tokens into a file of results.
    static func verify(_ workshop: Workshop) throws -> Contest {
        let many = 150_000
        let few = 5_000
        try workshop.writeIdentityTokens([
            "tokens.txt": many / 100, "tokens.jsonl": many / 100, "few-tokens.txt": few / 100,
        ])
        let siwa = { (threads: Int, what: String, input: String, more: [String]) -> Row in
            Row(name: "siwa batch verify\(what) --concurrency \(threads)") {
                unlink(workshop.file("verified.jsonl"))
                return Sample(
                    many,
                    try Child.run(
                        [
                            workshop.program("siwa"), "batch", "verify", "--input",
                            workshop.file(input), "--output", workshop.file("verified.jsonl"),
                            "--jwks", workshop.file("jwks.json"), "--client-id",
                            Workshop.client.rawValue, "--concurrency", "\(threads)", "--quiet",
                        ] + more))
            }
        }
        return Contest(
            title: "identity tokens verified, from file to file", unit: "tokens",
            rows: [
                siwa(1, "", "tokens.txt", []), siwa(2, "", "tokens.txt", []),
                siwa(1, ", JSON lines,", "tokens.jsonl", []),
                siwa(1, " --only refused", "tokens.txt", ["--only", "refused,failed,invalid"]),
                OpenSSLSpeed.row("rsa2048", column: 4, "verifications alone"),
                Python.row("Python, PyJWT", needs: "jwt") { python in
                    Sample(
                        few,
                        try Child.run([
                            python, "\(workshop.peers)/verify.py", workshop.file("jwks.json"),
                            workshop.file("few-tokens.txt"), workshop.file("python.jsonl"),
                        ]))
                },
            ])
    }
}
