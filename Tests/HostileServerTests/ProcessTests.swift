import Glibc
import SIWACrypto
import SIWATestSupport
import Testing

/// siwa in a process with too few resources.
@Suite(.timeLimit(.minutes(10))) struct ProcessTests {
    private let siwa: Siwa

    init() throws { siwa = try Siwa() }

    /// The exit codes of the contract; what else a process can end with is a crash.
    static let documented: Set<CInt> = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 70, 74, 75, 129, 130, 143]

    /// Runs `call` after a shell has lowered a limit.
    private func run(
        _ call: Executable.Call, limiting limit: String
    ) async throws -> ProgramResult {
        var limited = call
        limited.arguments =
            ["-c", "\(limit) || exit 99; exec \"$@\"", "sh", siwa.executable.path] + call.arguments
        return try await Executable(path: "/bin/bash").run(limited)
    }

    /// Whether the program itself can start, which its loader decides.
    private func starts(_ limit: String) async throws -> Bool {
        let result = try await run(.init(["--version"]), limiting: limit)
        return result.exitCode == 0
    }

    private func expectClear(_ result: ProgramResult, _ limit: String) {
        guard let code = result.exitCode else {
            Issue.record("\(limit): \(result)")
            return
        }
        #expect(Self.documented.contains(code), "\(limit): \(result)")
        #expect(
            code == 0 || result.errors.split(separator: "\n").contains { $0.hasPrefix("siwa: ") },
            "\(limit): \(result)")
    }

    @Test func `any limit of file descriptors leads to a result or a clear error`() async throws {
        var refused = 0
        try await RawServer.serving(.answering(200, tokens)) { server in
            for number in 3...24 {
                let limit = "ulimit -n \(number)"
                guard try await starts(limit) else { continue }
                let result = try await run(siwa.refresh(server.url), limiting: limit)
                expectClear(result, limit)
                if result.exitCode != 0 { refused += 1 }
                expectClear(
                    try await run(
                        .init(["secret"], environment: siwa.environment), limiting: limit), limit)
            }
        }
        #expect(refused > 3, "no limit was too low: the test tests nothing")
    }

    @Test func `any limit of memory leads to a result or a clear error`() async throws {
        var refused = 0
        var answered = 0
        try await RawServer.serving(.answering(200, tokens)) { server in
            for megabytes in stride(from: 16, through: 400, by: 8) {
                let limit = "ulimit -v \(megabytes << 10)"
                guard try await starts(limit) else { continue }
                let result = try await run(
                    siwa.refresh(server.url, timeout: "10s"), limiting: limit)
                expectClear(result, limit)
                if result.exitCode == 0 { answered += 1 } else { refused += 1 }
            }
        }
        print("memory limits: \(answered) answered, \(refused) refused")
        #expect(refused > 0, "no limit was too low: the test tests nothing")
    }

    @Test func `a file size limit is reported with a clear error`() async throws {
        let folder = try TemporaryFolder()
        // Through a pipe: standard error is a file here, to which the limit applies, too.
        let script = """
            set -o pipefail
            (ulimit -f 0; exec "$0" secret --out "$1") 2>&1 | cat
            """
        let result = try await Executable(path: "/bin/bash").run(
            Executable.Call(
                ["-c", script, siwa.executable.path, folder.path("secret")],
                environment: siwa.environment.merging(["PATH": "/usr/bin:/bin"]) { $1 }))
        #expect(result.exitCode == 74, "\(result)")
        #expect(result.output.contains("siwa: not_delivered: "), "\(result)")
        #expect(result.output.contains("file too large"), "\(result)")
        #expect(result.output.contains("ulimit -f"), "\(result)")
        #expect(!result.output.contains("disk"), "\(result)")
        #expect(access(folder.path("secret"), F_OK) != 0)
    }

    @Test func `an import that reaches a file size limit names that limit`() async throws {
        let folder = try TemporaryFolder()
        let environment = siwa.environment.merging([
            "PATH": "/usr/bin:/bin", "SIWA_VAULT_URL": "sqlite:" + folder.path("vault.db"),
            "SIWA_VAULT_KEY_FILE": folder.path("vault.key"),
        ]) { $1 }
        let made = try await siwa.executable.run("vault", "init", environment: environment)
        #expect(made.exitCode == 0, "\(made)")
        let lines = (0..<4000).map { #"{"user_id":"u\#($0)","refresh_token":"r.made.\#($0)"}"# }
        try folder.write("tokens", lines.joined(separator: "\n") + "\n")
        let script = """
            set -o pipefail
            (ulimit -f 400; exec "$0" vault import "$1") 2>&1 | cat
            """
        let result = try await Executable(path: "/bin/bash").run(
            "-c", script, siwa.executable.path, folder.path("tokens"), environment: environment)
        #expect(result.exitCode == 75, "\(result)")
        #expect(result.output.contains("ulimit -f"), "\(result)")
        #expect(!result.output.contains("free disk space"), "\(result)")
    }

    @Test
    func `a file size limit below the size of the authorities is reported with a clear error`()
        async throws
    {
        let bundle = "/etc/ssl/certs/ca-certificates.crt"
        let script = """
            set -o pipefail
            (ulimit -f 8; exec "$0" keys --ca-file "$1" --base-url https://127.0.0.1:9) 2>&1 | cat
            """
        let result = try await Executable(path: "/bin/bash").run(
            "-c", script, siwa.executable.path, bundle,
            environment: siwa.environment.merging(
                ["PATH": "/usr/bin:/bin", "SSL_CERT_FILE": bundle]
            ) { $1 })
        #expect(result.exitCode == 75, "\(result)")
        #expect(result.output.contains("siwa: resources: "), "\(result)")
        #expect(result.output.contains("File too large (ulimit -f)"), "\(result)")
    }

    @Test(
        .enabled(if: geteuid() == 0, "needs root, to run as a user whose processes are limited"))
    func `a failure to start threads is reported with a clear error`() async throws {
        let result = try await asNobody(
            "ulimit -u 1; \"$0\" keys --base-url http://127.0.0.1:9")
        #expect(result.exitCode == 75, "\(result)")
        #expect(result.errors.contains("siwa: resources: "), "\(result)")
        #expect(result.errors.contains("ulimit -u"), "\(result)")
    }

    /// A request needs a thread, another one to look up the name, and a third for the pause before
    /// it is sent again.
    @Test(
        .enabled(if: geteuid() == 0, "needs root, to run as a user whose processes are limited"))
    func `any limit of threads leads to a result or a clear error`() async throws {
        var errors: Set<String> = []
        for number in 1...5 {
            let result = try await asNobody(
                """
                ulimit -u \(number) && exec "$0" keys --base-url https://nobody.invalid \
                    --timeout 5s
                """, user: "65434")
            #expect([69, 75].contains(result.exitCode), "\(number): \(result)")
            #expect(result.errors.hasPrefix("siwa: "), "\(number): \(result)")
            errors.insert(String(result.errors.prefix { $0 != "\n" }))
        }
        #expect(errors.count > 1, "every limit, or none, was too low: \(errors)")
    }

    @Test(
        .enabled(if: geteuid() == 0, "needs root, to run as a user whose processes are limited"))
    func `a batch with too few threads does not hang`() async throws {
        var settings = siwa.environment
        settings["SIWA_PRIVATE_KEY_FILE"] = nil
        settings["SIWA_PRIVATE_KEY"] = try contents(siwa.keyPath)
        settings["SIWA_KEY_ID"] = "K1L2M3N4P5"
        var refused = 0
        try await RawServer.serving(.answering(400, #"{"error":"invalid_grant"}"#)) { server in
            let batches = [
                "batch verify --input in --offline --output out",
                "batch refresh --input in --base-url \(server.url) --output out",
            ]
            for batch in batches {
                for number in 2...9 {
                    let result = try await asNobody(
                        """
                        cd "$HOME" && echo \(Siwa.token) > in && ulimit -u \(number) \
                            && exec "$0" \(batch)
                        """, settings, user: "65433")
                    #expect([1, 75].contains(result.exitCode), "\(number): \(batch): \(result)")
                    guard result.exitCode == 75 else { continue }
                    #expect(result.errors.contains("threads are available"), "\(result)")
                    refused += 1
                }
            }
        }
        #expect(refused > 8, "no limit was too low: the test tests nothing")
    }

    @Test(
        .enabled(if: geteuid() == 0, "needs root, to mount over /proc"),
        arguments: ["batch verify --offline", "batch refresh --vault"])
    func `a batch works without /proc`(_ batch: String) async throws {
        let folder = try TemporaryFolder()
        let settings = siwa.environment.merging([
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": folder.path,
            "SIWA_VAULT_URL": "sqlite:\(folder.path("vault.db"))",
        ]) { $1 }
        try folder.write("in", String(repeating: "eyJ.eyJ.c\n", count: 2000))
        let input = batch.hasSuffix("--vault") ? "" : " --input in"
        try await RawServer.serving(.answering(200, tokens)) { server in
            let script = """
                cd "$HOME" && mount -t tmpfs none /proc && "$0" vault init > made \
                    && for run in 1 2 3; do
                        echo '{"user_id":"u'$run'","token":"\(Siwa.token)'$run'"}' > line
                        "$0" vault import line > imported
                        "$0" \(batch)\(input) --base-url \(server.url) --output out$run
                        echo "exit $?"
                    done
                """
            let result = try await Executable(path: "/usr/bin/unshare").run(
                .init(["-m", "bash", "-c", script, siwa.executable.path], environment: settings))
            let code = batch.hasSuffix("--vault") ? 0 : 1
            #expect(result.output == String(repeating: "exit \(code)\n", count: 3), "\(result)")
        }
    }

    /// Runs a script as a user who owns nothing; `$0` is siwa.
    private func asNobody(
        _ script: String, _ settings: [String: String] = [:], user: String = "65432"
    ) async throws -> ProgramResult {
        let folder = try TemporaryFolder()
        try #require(chmod(folder.path, 0o777) == 0)
        // The built programs may be in a folder that only root can access.
        let copy = folder.path("siwa")
        _ = try await Executable(path: "/bin/cp").run(siwa.executable.path, copy)
        return try await Executable(path: "/usr/bin/setpriv").run(
            Executable.Call(
                [
                    "--reuid", user, "--regid", user, "--clear-groups", "bash", "-c", script,
                    copy,
                ],
                environment: settings.merging([
                    "PATH": "/usr/bin:/bin", "HOME": folder.path,
                    "LD_LIBRARY_PATH": "/opt/swift/usr/lib/swift/linux",
                ]) { $1 }))
    }

    @Test func `no core dump contains the process's memory`() async throws {
        let running = try siwa.executable.start(waiting)
        try await eventually("siwa reads") { isReadingInput(running.pid) }
        let limits = try contents("/proc/\(running.pid)/limits")
        let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        #expect(core?.split(separator: " ").suffix(3).dropLast() == ["0", "0"], "\(core ?? "")")
        running.signal(SIGTERM)
        #expect(try await running.result().ending == .exit(143))
    }

    @Test(.enabled(if: geteuid() == 0, "needs root, to run siwa as another user"))
    func `a process that disables core dumps can still open its streams by number`() async throws {
        let result = try await asNobody(
            """
            "$0" inspect @<(printf 'not-a-jwt') 2>&1
            printf 'not-a-jwt' | "$0" inspect @/dev/stdin 2>&1
            "$0" config show --config <(printf '{}') > /dev/null && echo read
            export SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
            "$0" keys --ca-file "$SSL_CERT_FILE" --base-url https://127.0.0.1:9 --max-attempts 1 2>&1
            """)
        #expect(!result.output.contains("cannot read"), "\(result)")
        #expect(result.output.contains("read\n"), "\(result)")
        // Two files of authorities are joined in memory and found by number.
        #expect(result.output.contains("siwa: connect: "), "\(result)")
    }

    @Test(arguments: [SIGSEGV, SIGABRT, SIGILL])
    func `a crash is reported as a defect with a message`(_ signal: CInt) async throws {
        let running = try siwa.executable.start(waiting)
        try await eventually("siwa reads") { isReadingInput(running.pid) }
        running.signal(signal)
        let result = try await running.result()
        #expect(result.ending == .exit(70), "\(result)")
        #expect(result.errors.hasPrefix("siwa: defect: "), "\(result)")
    }

    @Test func `a hanging reader does not keep siwa from ending`() async throws {
        try await RawServer.serving(.answering(200, tokens)) { server in
            var call = siwa.refresh(server.url)
            call.output = .hangingPipe
            let running = try siwa.executable.start(call)
            try await eventually("siwa prints") { isWritingOutput(running.pid) }
            running.signal(SIGTERM)
            let result = try await running.result()
            #expect(result.ending == .exit(143), "\(result)")
            #expect(result.errors.hasPrefix("siwa: stopped: it hung"), "\(result)")
        }
    }

    @Test func `a hanging reader does not delay siwa beyond the timeout`() async throws {
        try await RawServer.serving(.answering(200, tokens)) { server in
            var call = siwa.refresh(server.url, timeout: "1s")
            call.output = .hangingPipe
            let result = try await siwa.executable.run(call)
            #expect(result.ending == .exit(75), "\(result)")
            #expect(result.errors.hasPrefix("siwa: timeout: "), "\(result)")
        }
    }

    /// A command that waits for standard input.
    private var waiting: Executable.Call {
        var call = siwa.exchange("http://127.0.0.1:9")
        call.input = .pipe
        return call
    }

    private func contents(_ path: String) throws -> String {
        let file = try #require(fopen(path, "re"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }
}
