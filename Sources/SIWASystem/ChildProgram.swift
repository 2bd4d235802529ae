internal import Glibc
internal import SIWACProcess
package import SIWACrypto

/// A program for ``runProgram(_:)``: started without a shell and without arguments.
package struct ChildProgram: Sendable {
    /// The path of the program.
    package let path: String
    /// Its standard input; at most 4096 bytes.
    package let input: SecretBytes
    /// Environment variables that are set in addition to those of this process.
    package let variables: [String: String]
    /// Variables of this process that are not passed on.
    package let withheld: Set<String>
    /// The time limit in seconds, after which the program and its children are ended.
    package let limit: Int
    /// Receives each line of its standard output and standard error; nil leaves both to this
    /// process's standard error.
    package let output: (@Sendable (String) -> Void)?

    /// Describes a run.
    package init(
        _ path: String, input: SecretBytes, variables: [String: String], withheld: Set<String>,
        limit: Int, output: (@Sendable (String) -> Void)? = nil
    ) {
        (self.path, self.input, self.variables) = (path, input, variables)
        (self.withheld, self.limit, self.output) = (withheld, limit, output)
    }
}

/// How a program ended.
package enum ProgramEnding: Hashable, Sendable {
    /// It exited with this code.
    case exit(CInt)
    /// It was ended by this signal.
    case signal(CInt)
    /// It was ended because of the time limit.
    case overdue
}

/// Runs a program to its end. A signal that asks this process to end is passed on to it.
///
/// - Throws: ``FileError`` if the program cannot be started.
package func runProgram(_ program: ChildProgram) throws(FileError) -> ProgramEnding {
    let input = try filledPipe(program.input)
    defer { close(input) }
    let output = try program.output.map { take throws(FileError) in try OutputPipe(take) }
    defer { output?.end() }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    if let output {
        posix_spawn_file_actions_adddup2(&actions, output.writing, STDERR_FILENO)
    }
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
    var attributes = childAttributes()
    defer { posix_spawnattr_destroy(&attributes) }
    var pid = pid_t()
    let code = withCStrings([program.path]) { arguments in
        withCStrings(environment(of: program)) { variables in
            posix_spawn(&pid, program.path, &actions, &attributes, arguments, variables)
        }
    }
    guard code == 0 else { throw FileError("run", program.path, code: code) }
    output?.begin()
    return wait(for: pid, within: program.limit) { output?.take() }
}

/// The end of a pipe from which `input` can be read.
private func filledPipe(_ input: SecretBytes) throws(FileError) -> CInt {
    let (reading, writing) = try closedOnExec()
    defer { close(writing) }
    do throws(FileError) {
        try writeAll(input, to: writing, named: "a pipe")
    } catch {
        close(reading)
        throw error
    }
    return reading
}

/// A pipe that other programs do not inherit.
private func closedOnExec() throws(FileError) -> (reading: CInt, writing: CInt) {
    var ends: [CInt] = [0, 0]
    _ = try system("create", "a pipe") { pipe(&ends) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
}

/// The lines that a program writes.
private final class OutputPipe {
    private let reading: CInt
    /// The end for the program.
    let writing: CInt
    private let receive: @Sendable (String) -> Void
    private var splitter = LineSplitter(limit: 1 << 16)
    private var isBegun = false

    init(_ receive: @escaping @Sendable (String) -> Void) throws(FileError) {
        self.receive = receive
        (reading, writing) = try closedOnExec()
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    }

    /// Leaves the writing end to the program alone, which is running now.
    func begin() {
        close(writing)
        isBegun = true
    }

    /// Takes what the program has written; a limited amount, so that it can be ended meanwhile.
    func take() {
        for _ in 0..<64 {
            var chunk = SecretBuffer(capacity: 1 << 14)
            let got = chunk.append(upTo: 1 << 14) { room in
                max(read(reading, room.baseAddress, room.count), 0)
            }
            guard got > 0 else { return }
            pass(splitter.split(chunk.finished()))
        }
    }

    /// Takes the rest and closes the pipe. Children of the program that still run are not awaited.
    func end() {
        if isBegun { take() } else { close(writing) }
        pass(splitter.rest())
        close(reading)
    }

    private func pass(_ lines: [InputLine]) {
        for line in lines {
            receive(
                line.bytes.map { String(decoding: $0.revealed(), as: UTF8.self) }
                    ?? "(a line of more than 65536 bytes)")
        }
    }
}

/// A process group of its own, so that the program's children end with it, and the signal handling
/// that programs expect.
private func childAttributes() -> posix_spawnattr_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
        &attributes,
        Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    return attributes
}

private func environment(of program: ChildProgram) -> [String] {
    var inherited: [String] = []
    var next = siwa_environment()
    while let variable = next?.pointee {
        let text = String(cString: variable)
        let name = String(text.prefix { $0 != "=" })
        if !program.withheld.contains(name), program.variables[name] == nil {
            inherited.append(text)
        }
        next = next?.advanced(by: 1)
    }
    return inherited + program.variables.map { "\($0.key)=\($0.value)" }.sorted()
}

/// Polls every 10 ms, because not every kernel has a descriptor for waiting for a child.
///
/// - Parameter meanwhile: called after each poll.
private func wait(
    for pid: pid_t, within limit: Int, _ meanwhile: () -> Void
) -> ProgramEnding {
    var (isOverdue, isSignalled) = (false, false)
    var status: CInt = 0
    var elapsed = 0
    while waitpid(pid, &status, WNOHANG) == 0 {
        if !isSignalled, let signal = ProcessSignals.received {
            isSignalled = true
            kill(-pid, signal)
        }
        if elapsed == limit * 100 {
            isOverdue = true
            kill(-pid, SIGTERM)
        }
        // Two seconds after SIGTERM.
        if elapsed == limit * 100 + 200 { kill(-pid, SIGKILL) }
        poll(nil, 0, 10)
        meanwhile()
        elapsed += 1
    }
    if isOverdue { return .overdue }
    let signal = status & 0x7F
    return signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal)
}

/// Lends `texts` as C's null-terminated list of strings.
func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
}
