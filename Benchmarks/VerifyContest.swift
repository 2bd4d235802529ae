import Glibc
import SignInWithApple

extension Contest {
    /// Verifying a file of identity tokens into a file of results.
    static func verify(_ workshop: Workshop) throws -> Contest {
        let many = 150_000
        let few = 5_000
        try workshop.writeIdentityTokens(["tokens.txt": many / 100, "few-tokens.txt": few / 100])
        let siwa = { (threads: Int) -> Row in
            Row(name: "siwa batch verify --concurrency \(threads)") {
                unlink(workshop.file("verified.jsonl"))
                return Sample(
                    many,
                    try Child.run([
                        workshop.program("siwa"), "batch", "verify", "--input",
                        workshop.file("tokens.txt"), "--output", workshop.file("verified.jsonl"),
                        "--jwks", workshop.file("jwks.json"), "--client-id",
                        Workshop.client.rawValue, "--concurrency", "\(threads)", "--quiet",
                    ]))
            }
        }
        return Contest(
            title: "identity tokens verified, from file to file", unit: "tokens",
            rows: [
                siwa(1), siwa(2),
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
