import SIWATestSupport
import Testing

/// libcurl is loaded by the commands that use the network, and by no other.
@Suite struct LoadingTests {
    private let siwa: Siwa

    init() throws { siwa = try Siwa() }

    @Test func `commands that need no network do not load libcurl`() async throws {
        for arguments in [
            ["--help"], ["--version"], ["secret"], ["public-key"], ["nonsense"],
            ["refresh", "--token", "@env:REFRESH_TOKEN", "--dry-run"],
        ] {
            #expect(try await !loadsCurl(arguments), "\(arguments)")
        }
    }

    @Test func `commands that use the network load libcurl`() async throws {
        let port = try RefusedPort()
        #expect(
            try await loadsCurl([
                "refresh", "--token", "@env:REFRESH_TOKEN", "--base-url", port.url,
                "--max-attempts", "1",
            ]))
    }

    /// The dynamic linker tells on standard error which libraries it looks for.
    private func loadsCurl(_ arguments: [String]) async throws -> Bool {
        let result = try await siwa.executable.run(
            .init(arguments, environment: siwa.environment.merging(["LD_DEBUG": "libs"]) { $1 }))
        try #require(result.errors.contains("find library=libc.so.6"))
        return result.errors.contains("libcurl")
    }

    @Test func `a libcurl that cannot be loaded is named in the error, with a remedy`() async throws
    {
        let folder = try TemporaryFolder()
        try folder.write("libcurl.so.4", "no library")
        var call = siwa.exchange("http://127.0.0.1:9")
        call.environment["LD_LIBRARY_PATH"] = folder.path
        let result = try await siwa.run(call)
        #expect(result.ending == .exit(3), "\(result)")
        #expect(result.errors.contains("libcurl"), "\(result)")
        #expect(result.errors.contains("hint: install libcurl"), "\(result)")
    }

    @Test(.enabled(if: Executable.installed("strace") != nil, "needs strace"))
    func `siwa starts no other program`() async throws {
        let strace = try #require(Executable.installed("strace"))
        try await RawServer.serving(.answering(200, tokens)) { server in
            let call = siwa.refresh(server.url)
            let result = try await strace.run(
                .init(
                    ["-f", "-qq", "-e", "trace=execve,fork,vfork", siwa.executable.path]
                        + call.arguments, environment: call.environment))
            #expect(result.ending == .exit(0), "\(result)")
            let calls = result.errors.split(separator: "\n").filter { $0.contains("(") }
            #expect(calls.count { $0.contains("execve(") } == 1, "\(result)")
            #expect(!calls.contains { $0.contains("fork(") }, "\(result)")
        }
    }
}
