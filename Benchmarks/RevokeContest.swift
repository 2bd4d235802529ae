import Glibc
import SignInWithApple

extension Contest {
    /// Revoking many tokens, at one local server that speaks HTTP/2.
    static func revoke(_ workshop: Workshop) throws -> Contest {
        try workshop.writeRefreshTokens("refresh.txt", hundreds: most / 100)
        try workshop.writeCurlConfiguration("curl.conf", most)
        return Contest(
            title: "refresh tokens revoked over TLS at a local nginx", unit: "tokens",
            rows: [
                siwa(workshop, most, ["--concurrency", "64"]),
                siwa(workshop, most, []),
                curlParallel(workshop), xargsCurl(workshop),
                Python.row("Python, http.client, 16 threads", needs: nil) { python in
                    Sample(
                        2_000,
                        try Child.run([
                            python, "\(workshop.peers)/revoke.py", Workshop.endpoint,
                            workshop.file("ca.pem"), workshop.file("secret.txt"),
                            workshop.file("refresh.txt"), "2000",
                        ]))
                },
            ])
    }

    private static let most = 20_000
    private static let processes = 200

    private static func siwa(_ workshop: Workshop, _ count: Int, _ more: [String]) -> Row {
        Row(name: (["siwa batch revoke"] + more).joined(separator: " ")) {
            unlink(workshop.file("revoked.jsonl"))
            return Sample(
                count,
                try Child.run(
                    [
                        workshop.program("siwa"), "batch", "revoke", "--input",
                        workshop.file("refresh.txt"), "--output", workshop.file("revoked.jsonl"),
                        "--key", workshop.file("AuthKey.p8"), "--key-id", "K1L2M3N4P5",
                        "--team-id", Workshop.team.rawValue, "--client-id",
                        Workshop.client.rawValue, "--base-url",
                        "https://localhost:\(Workshop.port)", "--ca-file",
                        workshop.file("ca.pem"), "--quiet",
                    ] + more))
        }
    }

    private static func curlParallel(_ workshop: Workshop) -> Row {
        let name = "curl --parallel --parallel-max 100"
        guard let curl = Child.installed("curl") else { return Row(name: name, run: nil) }
        return Row(name: name) {
            Sample(most, try Child.run([curl, "--config", workshop.file("curl.conf")]))
        }
    }

    private static func xargsCurl(_ workshop: Workshop) -> Row {
        let name = "xargs -P8 curl"
        guard let xargs = Child.installed("xargs"), let curl = Child.installed("curl") else {
            return Row(name: name, run: nil)
        }
        return Row(name: name) {
            try workshop.writeRefreshTokens("few.txt", hundreds: processes / 100)
            return Sample(
                processes,
                try Child.run(
                    [
                        xargs, "-P8", "-I{}", curl, "--silent", "--fail", "--cacert",
                        workshop.file("ca.pem"), "--data", "client_id=com.example.app",
                        "--data", "client_secret@\(workshop.file("secret.txt"))",
                        "--data", "token={}", "--data", "token_type_hint=refresh_token",
                        Workshop.endpoint,
                    ], input: workshop.file("few.txt")))
        }
    }
}

extension Workshop {
    /// What `curl --parallel` reads: a request each.
    fileprivate func writeCurlConfiguration(_ name: String, _ count: Int) throws {
        let request = """
            cacert = "\(file("ca.pem"))"
            url = "\(Self.endpoint)"
            output = "/dev/null"
            data = "client_id=com.example.app"
            data-urlencode = "client_secret@\(file("secret.txt"))"
            data = "token=r.0.0.nrzuu.A"
            data = "token_type_hint=refresh_token"

            """
        try write(
            name, first: Array("silent\nparallel\nparallel-max = 100\n\(request)".utf8),
            Array("next\n\(request)".utf8), times: count - 1)
    }
}
