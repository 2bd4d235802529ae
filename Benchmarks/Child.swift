import Glibc

/// A program that has ended, and the resources that it used.
struct Child {
    /// From its start to its end.
    let seconds: Double
    /// Its processor time, in user and kernel mode, including its children that it waited for.
    let cpuSeconds: Double
    /// The most memory it had, in KiB.
    let peak: Int
    /// What it printed.
    let output: String

    /// Where a command is found on the PATH; nil when it is not installed.
    static func installed(_ name: String) -> String? {
        (variable("PATH") ?? "/usr/bin:/bin").split(separator: ":")
            .map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Runs a program; its standard output is kept.
    ///
    /// - Throws: ``BenchmarkError`` when it does not end with 0.
    static func run(_ arguments: [String], input: String? = nil) throws -> Child {
        let (printed, report) = (try Pipe(), try Pipe())
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input ?? "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, printed.writing, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, report.writing, 3)
        let pid = try spawn([measure] + arguments, &actions)
        for pipe in [printed, report] { pipe.closeWriting() }
        let output = printed.readAll()
        let measured = report.readAll().split(separator: " ").compactMap { Double($0) }
        let status = wait(for: pid).status
        guard status == 0, measured.count == 4 else {
            throw BenchmarkError("\(measure) failed (\(status))")
        }
        guard measured[0] == 0 else {
            throw BenchmarkError("\(arguments[0]) failed (\(Int(measured[0])))")
        }
        return Child(
            seconds: measured[1], cpuSeconds: measured[2], peak: Int(measured[3]), output: output)
    }

    /// The program of measure.c, which is built beside this one.
    private static let measure = "\(CommandLine.arguments[0])-measure"

    /// Starts a program that runs until it is ended with ``end(_:)``.
    ///
    /// - Parameter isQuiet: what it prints is thrown away.
    static func start(_ arguments: [String], isQuiet: Bool = false) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for stream in isQuiet ? [1, 2] : [] {
            posix_spawn_file_actions_addopen(&actions, CInt(stream), "/dev/null", O_WRONLY, 0)
        }
        return try spawn(arguments, &actions)
    }

    /// Waits until a program that was started has ended.
    ///
    /// - Returns: how it ended, and the processor time that it took.
    static func wait(for pid: pid_t) -> (status: CInt, cpuSeconds: Double) {
        var status: CInt = 0
        var usage = rusage()
        while wait4(pid, &status, 0, &usage) == -1, errno == EINTR {}
        return (status, usage.ru_utime.seconds + usage.ru_stime.seconds)
    }

    /// Ends a program that was started.
    static func end(_ pid: pid_t) {
        kill(pid, SIGTERM)
        var status: CInt = 0
        waitpid(pid, &status, 0)
    }

    private static func spawn(
        _ arguments: [String], _ actions: inout posix_spawn_file_actions_t
    ) throws -> pid_t {
        var pid = pid_t()
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let code = posix_spawnp(&pid, arguments[0], &actions, nil, &words, environ)
        guard code == 0 else { throw BenchmarkError("\(arguments[0]) does not start") }
        return pid
    }
}

/// Why a benchmark cannot continue.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Seconds since an arbitrary start.
func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// A variable of the environment.
func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

extension timeval {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}

private struct Pipe {
    let reading: CInt
    let writing: CInt

    init() throws {
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { throw BenchmarkError("no pipe can be made") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
    }

    func closeWriting() { close(writing) }

    func readAll() -> String {
        defer { close(reading) }
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(reading, &buffer, buffer.count)
            if count > 0 { all += buffer[..<count] } else if count == 0 || errno != EINTR { break }
        }
        return String(decoding: all, as: UTF8.self)
    }
}
