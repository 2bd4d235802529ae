import TestSupport
import Testing

@Suite struct ExecutableTests {
    @Test func `runs the siwa that was just built`() async throws {
        let result = try await Executable.product("siwa").run("--version")
        #expect(result.ending == .exit(0), "\(result)")
        #expect(result.output.hasPrefix("siwa "), "\(result)")
    }

    @Test func `inherits neither variables nor descriptors`() async throws {
        let shell = Executable(path: "/bin/sh")
        let result = try await shell.run(
            "-c", "env; ls /proc/$$/fd; cat", environment: ["ONE": "1", "PATH": "/usr/bin:/bin"],
            input: .text("input"))
        #expect(!result.output.contains("HOME="), "\(result)")
        #expect(result.output.hasSuffix("0\n1\n2\ninput"), "\(result)")
    }

    @Test func `kills what does not end`() async throws {
        let shell = Executable(path: "/bin/sh")
        await #expect(throws: Overdue.self) {
            try await shell.run(.init(["-c", "exec sleep 60"], limit: .zero, ))
        }
    }

    @Test func `tells a signal from an exit code`() async throws {
        let running = try Executable(path: "/bin/sh").start(.init(["-c", "kill -SEGV $$"]))
        #expect(try await running.result().ending == .signal(11))
    }

    @Test func `output larger than any pipe does not block`() async throws {
        let result = try await Executable(path: "/bin/sh").run(
            "-c", "head -c 3000000 /dev/zero >&2; head -c 2000000 /dev/zero",
            environment: ["PATH": "/usr/bin:/bin"])
        #expect(result.errorBytes.count == 3_000_000)
        #expect(result.outputBytes.count == 2_000_000)
    }
}
