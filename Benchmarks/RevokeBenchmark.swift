import Glibc
import SIWALifecycle

extension Benchmark {
    /// Revoking many tokens, at one local server that speaks HTTP/2.
    static func revoke(_ fixture: Fixture) throws -> Benchmark {
        try fixture.writeRefreshTokens("refresh.txt", hundreds: most / 100)
        try fixture.writeCurlConfiguration("curl.conf", most)
        return Benchmark(
            name: "revoke", title: "refresh tokens revoked over TLS at a local nginx",
            unit: "tokens",
            rows: [
                siwa(fixture, most, ["--concurrency", "64"]),
                siwa(fixture, most, []),
                multi(fixture, 64), multi(fixture, 100),
                curlParallel(fixture), xargsCurl(fixture),
                Python.row("Python, http.client, 16 threads", needs: nil) { python in
                    Sample(
                        2_000,
                        try Child.run([
                            python, "\(fixture.peers)/revoke.py", Fixture.endpoint,
                            fixture.file("ca.pem"), fixture.file("secret.txt"),
                            fixture.file("refresh.txt"), "2000",
                        ]))
                },
            ], repetitions: 3,
            goals: [
                Goal(
                    .rate, of: "siwa batch revoke --concurrency 64",
                    against: "C, libcurl, 64 at once", must: 0.88, stretch: 0.95),
                Goal(
                    .processor, of: "siwa batch revoke --concurrency 64",
                    against: "C, libcurl, 64 at once", must: 1.15, stretch: 1.05),
            ])
    }

    private static let most = 20_000
    private static let processes = 200

    private static func siwa(_ fixture: Fixture, _ count: Int, _ more: [String]) -> Row {
        Row(name: (["siwa batch revoke"] + more).joined(separator: " ")) {
            unlink(fixture.file("revoked.jsonl"))
            return Sample(
                count,
                try Child.run(
                    [
                        fixture.program("siwa"), "batch", "revoke", "--input",
                        fixture.file("refresh.txt"), "--output", fixture.file("revoked.jsonl"),
                        "--key", fixture.file("AuthKey.p8"), "--key-id", "K1L2M3N4P5",
                        "--team-id", Fixture.team.rawValue, "--client-id",
                        Fixture.client.rawValue, "--base-url",
                        "https://localhost:\(Fixture.port)", "--ca-file",
                        fixture.file("ca.pem"), "--quiet",
                    ] + more))
        }
    }

    /// One connection and one thread; a line is written for each answer.
    private static func multi(_ fixture: Fixture, _ inFlight: Int) -> Row {
        let name = "C, libcurl, \(inFlight) at once"
        guard let program = fixture.peer("many", linking: ["curl"]) else {
            return Row(name: name, run: nil)
        }
        return Row(name: name) {
            Sample(
                most,
                try Child.run([
                    program, Fixture.endpoint, fixture.file("ca.pem"), fixture.file("secret.txt"),
                    fixture.file("refresh.txt"), "\(inFlight)",
                    fixture.file("answered.jsonl"),
                ]))
        }
    }

    private static func curlParallel(_ fixture: Fixture) -> Row {
        let name = "curl --parallel --parallel-max 100"
        guard let curl = Child.installed("curl") else { return Row(name: name, run: nil) }
        return Row(name: name) {
            Sample(most, try Child.run([curl, "--config", fixture.file("curl.conf")]))
        }
    }

    private static func xargsCurl(_ fixture: Fixture) -> Row {
        let name = "xargs -P8 curl"
        guard let xargs = Child.installed("xargs"), let curl = Child.installed("curl") else {
            return Row(name: name, run: nil)
        }
        return Row(name: name) {
            try fixture.writeRefreshTokens("few.txt", hundreds: processes / 100)
            return Sample(
                processes,
                try Child.run(
                    [
                        xargs, "-P8", "-I{}", curl, "--silent", "--fail", "--cacert",
                        fixture.file("ca.pem"), "--data", "client_id=com.example.app",
                        "--data", "client_secret@\(fixture.file("secret.txt"))",
                        "--data", "token={}", "--data", "token_type_hint=refresh_token",
                        Fixture.endpoint,
                    ], input: fixture.file("few.txt")))
        }
    }
}

extension Fixture {
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
