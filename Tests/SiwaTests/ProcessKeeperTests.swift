import Glibc
import SIWATestSupport
import Testing

/// Programs that tests started.
@Suite struct ProcessKeeperTests {
    @Test func `child processes end when the test process does, and not before`() async throws {
        let sleep = try #require(Executable.installed("sleep"))
        let ended = try sleep.start(Executable.Call(["0"]))
        let (kept, other) = (
            try sleep.start(Executable.Call(["1000"])), try sleep.start(Executable.Call(["1000"]))
        )
        defer { other.signal(9) }
        _ = try await ended.result()
        let shell: pid_t
        do {
            let keeper = try ProcessKeeper()
            shell = keeper.shell
            keeper.noteBegun(ended.pid)
            keeper.noteBegun(kept.pid)
            keeper.noteBegun(other.pid)
            keeper.noteEnded(ended.pid)
            keeper.noteEnded(other.pid)
            #expect(!kept.hasEnded)
        }
        // Its pipe is closed now, as it is when the process has ended.
        #expect(try await kept.result().ending == .signal(9))
        #expect(!other.hasEnded)
        // A child that was not waited for would still be found, as a zombie.
        try await eventually("the shell is waited for") { kill(shell, 0) == -1 && errno == ESRCH }
    }
}
