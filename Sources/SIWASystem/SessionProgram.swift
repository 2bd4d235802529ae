internal import Glibc
internal import SIWACProcess
internal import Synchronization

/// A program that is asked something and answers: started in a session of its own, without a shell,
/// a terminal or the descriptors and variables of this process.
package struct SessionProgram: Sendable {
    /// The absolute path of the program.
    package let path: String
    package let arguments: [String]
    /// Its whole environment: `NAME=VALUE`.
    package let environment: [String]
    /// Its standard input.
    package let input: [UInt8]
    /// The time limit, after which it and its process group are ended.
    package let limit: Duration
    /// Whether its output so far is a whole answer, so that more is not awaited.
    package let isWhole: @Sendable ([UInt8]) -> Bool

    /// Describes a run.
    package init(
        _ path: String, arguments: [String], environment: [String], input: [UInt8],
        limit: Duration, isWhole: @escaping @Sendable ([UInt8]) -> Bool
    ) {
        (self.path, self.arguments, self.environment) = (path, arguments, environment)
        (self.input, self.limit, self.isWhole) = (input, limit, isWhole)
    }

    /// The most output that is read, in bytes.
    package static let mostOutput = 64 << 10
    /// The most of its errors that is kept, in bytes.
    package static let mostErrors = 4 << 10
}

/// What a ``SessionProgram`` answered.
package struct SessionAnswer: Sendable {
    package var output: [UInt8] = []
    /// The beginning of its standard error.
    package var errors: [UInt8] = []
    package var ending = Ending.answered

    package enum Ending: Hashable, Sendable {
        /// The answer was whole before the program ended.
        case answered
        case exit(CInt)
        case signal(CInt)
        /// The time limit was over.
        case overdue
        /// It wrote more than ``SessionProgram/mostOutput``.
        case tooMuch
        /// A signal asked this process to end.
        case interrupted
    }
}

/// Runs a program on a thread of its own until it has answered. Its process group is ended afterwards.
///
/// - Parameter receive: called on that thread.
/// - Throws: ``FileError`` if there is no thread.
package func start(
    _ program: SessionProgram,
    _ receive: @escaping @Sendable (Result<SessionAnswer, FileError>) -> Void
) throws(FileError) {
    try runOnThread {
        do throws(FileError) {
            let running = try RunningSession(program)
            receive(.success(running.awaitAnswer()))
            running.end()
        } catch {
            receive(.failure(error))
        }
    }
}

/// Waits until the process groups of all programs are ended, which takes little more than a second;
/// called when the process ends.
package func endSessionPrograms() {
    runningSessions.isEnding.store(true, ordering: .sequentiallyConsistent)
    for _ in 0..<200 where runningSessions.count.load(ordering: .sequentiallyConsistent) > 0 {
        poll(nil, 0, 10)
    }
}

private final class RunningSessions: Sendable {
    let count = Atomic<Int>(0)
    let isEnding = Atomic<Bool>(false)
}

private let runningSessions = RunningSessions()

/// A running program and this process's ends of its pipes.
private final class RunningSession {
    private let program: SessionProgram
    private let process: pid_t
    private let input: CInt
    private let output: CInt
    private let errors: CInt
    private let deadline: MonotonicDeadline
    private var sent = 0
    private var isInputOpen = true
    private var isOutputOpen = true
    private var isErrorsOpen = true
    private var answer = SessionAnswer()

    init(_ program: SessionProgram) throws(FileError) {
        self.program = program
        deadline = MonotonicDeadline(after: program.limit)
        var pipes: [CInt] = []
        do throws(FileError) {
            for _ in 0..<3 {
                var ends: [CInt] = [0, 0]
                _ = try system("create", "a pipe") { pipe2(&ends, O_CLOEXEC) }
                pipes += ends
            }
            process = try Self.start(program, (pipes[0], pipes[3], pipes[5]))
        } catch {
            for end in pipes { close(end) }
            throw error
        }
        for end in [pipes[0], pipes[3], pipes[5]] { close(end) }
        (input, output, errors) = (pipes[1], pipes[2], pipes[4])
        for end in [input, output, errors] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        runningSessions.count.add(1, ordering: .sequentiallyConsistent)
    }

    private static func start(
        _ program: SessionProgram, _ ends: (input: CInt, output: CInt, errors: CInt)
    ) throws(FileError) -> pid_t {
        var process = pid_t()
        let code = program.path.withCString { path in
            withCStrings([program.path] + program.arguments) { arguments in
                withCStrings(program.environment) { environment in
                    var session = siwa_session()
                    session.path = path
                    return arguments.withUnsafeBufferPointer { arguments in
                        environment.withUnsafeBufferPointer { environment in
                            session.arguments = arguments.baseAddress
                            session.environment = environment.baseAddress
                            session.input = ends.input
                            session.output = ends.output
                            session.errors = ends.errors
                            return siwa_start_session(&session, &process)
                        }
                    }
                }
            }
        }
        guard code == 0 else { throw FileError("run", program.path, code: code) }
        return process
    }

    /// Reads until there is an answer, or no hope of one.
    func awaitAnswer() -> SessionAnswer {
        while true {
            exchange(waitingAtMost: min(deadline.milliseconds, 20))
            if answer.output.count > SessionProgram.mostOutput { return ended(.tooMuch) }
            if program.isWhole(answer.output) { return ended(.answered) }
            if let status = exitStatus() {
                // What it wrote before.
                exchange(waitingAtMost: 0)
                return ended(status)
            }
            if ProcessSignals.received != nil || isEnding { return ended(.interrupted) }
            if deadline.milliseconds == 0 { return ended(.overdue) }
        }
    }

    private var isEnding: Bool { runningSessions.isEnding.load(ordering: .sequentiallyConsistent) }

    private func ended(_ ending: SessionAnswer.Ending) -> SessionAnswer {
        answer.ending = ending
        return answer
    }

    /// Writes and reads what the pipes allow now.
    private func exchange(waitingAtMost wait: CInt) {
        var polls = [
            pollfd(fd: isInputOpen ? input : -1, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: isOutputOpen ? output : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isErrorsOpen ? errors : -1, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&polls, 3, wait) > 0 else { return }
        if polls[0].revents != 0 { writeInput() }
        if polls[1].revents != 0 {
            isOutputOpen = read(output) { answer.output += $0 }
        }
        if polls[2].revents != 0 {
            isErrorsOpen = read(errors) { chunk in
                answer.errors += chunk.prefix(SessionProgram.mostErrors - answer.errors.count)
            }
        }
    }

    private func writeInput() {
        let count = program.input[sent...].withUnsafeBytes {
            write(input, $0.baseAddress, $0.count)
        }
        if count > 0 { sent += count }
        // A program may answer without reading.
        if sent == program.input.count || count < 0 && errno != EAGAIN && errno != EINTR {
            closeInput()
        }
    }

    private func closeInput() {
        guard isInputOpen else { return }
        isInputOpen = false
        close(input)
    }

    /// Returns whether the pipe is still open.
    private func read(_ descriptor: CInt, _ take: (ArraySlice<UInt8>) -> Void) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        let count = Glibc.read(descriptor, &chunk, chunk.count)
        if count > 0 { take(chunk[..<count]) }
        return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
    }

    /// How the program ended; nil while it runs. It stays a zombie, so that its number cannot be
    /// another group's.
    private func exitStatus() -> SessionAnswer.Ending? {
        let status = siwa_exit_status(process)
        guard status < 256 else { return nil }
        return status < 0 ? .signal(-status) : .exit(status)
    }

    /// Ends the process group: SIGTERM, and a second later SIGKILL. A program that has answered gets a
    /// moment to end by itself.
    func end() {
        closeInput()
        close(output)
        close(errors)
        if answer.ending == .answered {
            for _ in 0..<20 where exitStatus() == nil && !isEnding { poll(nil, 0, 5) }
        }
        kill(-process, SIGTERM)
        for round in 0..<100 {
            if waitpid(process, nil, WNOHANG) != 0, kill(-process, 0) != 0 { break }
            if round == 99 { kill(-process, SIGKILL) }
            poll(nil, 0, 10)
        }
        waitpid(process, nil, 0)
        runningSessions.count.subtract(1, ordering: .sequentiallyConsistent)
    }
}
