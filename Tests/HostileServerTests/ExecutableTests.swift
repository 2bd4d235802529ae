import SIWATestSupport
import Testing

/// The machinery that the other suites use: a runner that hides a crash or a hang, or passes the
/// tester's settings to the program, would make them useless.
@Suite struct ExecutableTests {
    private let shell = Executable(path: "/bin/sh")
    private let path = ["PATH": "/usr/local/bin:/usr/bin:/bin"]

    @Test func `the harness runs the siwa that was just built`() async throws {
        let result = try await Executable.product("siwa").run("--version")
        #expect(result.ending == .exit(0), "\(result)")
        #expect(result.output.hasPrefix("siwa "), "\(result)")
    }

    @Test func `a child process inherits neither variables nor descriptors`() async throws {
        let result = try await shell.run(
            "-c", "env; ls /proc/$$/fd; cat", environment: path, input: .text("input"))
        #expect(!result.output.contains("HOME="), "\(result)")
        #expect(result.output.hasSuffix("0\n1\n2\ninput"), "\(result)")
    }

    @Test func `a program that does not end is killed, and the test fails`() async throws {
        await #expect(throws: Overdue.self) {
            try await shell.run(.init(["-c", "exec sleep 60"], environment: path, limit: .zero))
        }
    }

    @Test func `a crash is not reported as an exit code`() async throws {
        let running = try shell.start(.init(["-c", "kill -SEGV $$"]))
        #expect(try await running.result().ending == .signal(11))
    }

    @Test func `output larger than any pipe does not block the program`() async throws {
        let script = "head -c 3000000 /dev/zero >&2; head -c 2000000 /dev/zero"
        let result = try await shell.run("-c", script, environment: path)
        #expect(result.errorBytes.count == 3_000_000)
        #expect(result.outputBytes.count == 2_000_000)
    }
}
