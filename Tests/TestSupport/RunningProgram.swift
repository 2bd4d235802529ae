import Dispatch
package import Glibc

/// A program that was started and must end within its limit.
package final class RunningProgram: Sendable {
    /// The process.
    package let pid: pid_t
    private let call: Executable.Call
    private let streams: Streams
    private let state = Locked(State())

    private struct State {
        var ending: ProgramResult.Ending?
        var usage = rusage()
        var isOverdue = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    init(_ pid: pid_t, _ call: Executable.Call, _ streams: Streams) throws {
        self.pid = pid
        self.call = call
        self.streams = streams
        processKeeper?.noteBegun(pid)
        try startThread { self.reap() }
        let seconds = Double(call.limit.components.seconds) + 0.5
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
            self?.killOverdue()
        }
    }

    /// Sends a signal, unless the program has ended.
    package func signal(_ number: CInt) {
        state.withLock { state in
            // Under the lock, because a process that is reaped leaves its number to another.
            if state.ending == nil { kill(pid, number) }
        }
    }

    /// Kills the program and waits for its end: then it no longer writes into a folder that is to be
    /// removed.
    package func end() {
        signal(SIGKILL)
        while !hasEnded { usleep(1000) }
    }

    /// Writes to the program's standard input, which must be a pipe.
    package func write(_ text: String) throws { try streams.inputEnd?.write(Array(text.utf8)) }

    /// Whether it has ended.
    package var hasEnded: Bool { state.withLock { $0.ending != nil } }

    /// What it has written to standard output so far.
    package func outputSoFar() throws -> String {
        String(decoding: try streams.output.contents(), as: UTF8.self)
    }

    /// Takes out of a ``ChildOutput/hangingPipe`` what is in it now.
    package func takeUnreadOutput() throws -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        guard let end = streams.unreadEnd?.number else { return "" }
        var readiness = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        while poll(&readiness, 1, 0) == 1 {
            let count = try checked("read") { read(end, &chunk, chunk.count) }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What it has written to standard error so far.
    package func errorsSoFar() throws -> String {
        String(decoding: try streams.errors.contents(), as: UTF8.self)
    }

    /// Waits for the end.
    ///
    /// - Throws: ``Overdue`` when it had to be killed.
    package func result() async throws -> ProgramResult {
        await withCheckedContinuation { waiter in
            let hasEnded = state.withLock { state in
                if state.ending == nil { state.waiters.append(waiter) }
                return state.ending != nil
            }
            if hasEnded { waiter.resume() }
        }
        let (ending, usage, isOverdue) = state.withLock { ($0.ending, $0.usage, $0.isOverdue) }
        let result = ProgramResult(
            ending: ending ?? .signal(0),
            outputBytes: streams.isOutputCaptured ? try streams.output.contents() : [],
            errorBytes: try streams.errors.contents(), processorTime: usage.processorTime)
        guard !isOverdue else {
            throw Overdue(description: "'\(call)' did not end within \(call.limit): \(result)")
        }
        return result
    }

    private var processKeeper: ProcessKeeper? { call.endsWithInput ? nil : .shared }

    private func reap() {
        var information = siginfo_t()
        // Waits without reaping, so that `signal` cannot meet the number's next owner.
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        processKeeper?.noteEnded(pid)
        let waiters = state.withLock { state in
            var status: CInt = 0
            wait4(pid, &status, 0, &state.usage)
            state.ending = ProgramResult.Ending(status: status)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func killOverdue() {
        state.withLock { state in
            guard state.ending == nil else { return }
            state.isOverdue = true
            kill(pid, SIGKILL)
        }
    }
}

extension rusage {
    fileprivate var processorTime: Duration {
        .seconds(ru_utime.tv_sec + ru_stime.tv_sec)
            + .microseconds(ru_utime.tv_usec + ru_stime.tv_usec)
    }
}
