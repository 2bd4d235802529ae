internal import CProcess
internal import Glibc
package import SIWACrypto

/// A program for ``runProgram(_:)``: started without a shell and without arguments, its standard
/// output and standard error both being this process's standard error.
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

    /// Describes a run.
    package init(
        _ path: String, input: SecretBytes, variables: [String: String], withheld: Set<String>,
        limit: Int
    ) {
        (self.path, self.input, self.variables) = (path, input, variables)
        (self.withheld, self.limit) = (withheld, limit)
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
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
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
    return wait(for: pid, within: program.limit)
}

/// The end of a pipe from which `input` can be read.
private func filledPipe(_ input: SecretBytes) throws(FileError) -> CInt {
    var ends: [CInt] = [0, 0]
    _ = try system("create", "a pipe") { pipe(&ends) }
    defer { close(ends[1]) }
    do throws(FileError) {
        for end in ends { _ = try system("create", "a pipe") { fcntl(end, F_SETFD, FD_CLOEXEC) } }
        try writeAll(input, to: ends[1], named: "a pipe")
    } catch {
        close(ends[0])
        throw error
    }
    return ends[0]
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
private func wait(for pid: pid_t, within limit: Int) -> ProgramEnding {
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
        elapsed += 1
    }
    if isOverdue { return .overdue }
    let signal = status & 0x7F
    return signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal)
}

/// Lends `texts` as C's null-terminated list of strings.
private func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
}
