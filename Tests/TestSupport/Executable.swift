import Glibc

/// A program that tests run from outside.
package struct Executable: Sendable {
    /// Where it is.
    package let path: String

    /// Any program.
    package init(path: String) { self.path = path }

    /// A product of this package: it is beside the test bundle that runs now, or in the folder
    /// that `SIWA_PRODUCTS` names, such as `.build/release`.
    package static func product(_ name: String) throws -> Executable {
        if let folder = getenv("SIWA_PRODUCTS") {
            return Executable(path: "\(String(cString: folder))/\(name)")
        }
        guard let own = realpath("/proc/self/exe", nil) else { throw SystemFailure("realpath") }
        defer { free(own) }
        let folder = String(cString: own).split(separator: "/").dropLast().joined(separator: "/")
        let path = "/\(folder)/\(name)"
        guard access(path, X_OK) == 0 else { throw SystemFailure("looking for \(path)") }
        return Executable(path: path)
    }

    /// A program of the system, or nil: for `.enabled(if:)`.
    package static func installed(_ name: String) -> Executable? {
        ["/usr/local/bin", "/usr/bin", "/bin"].map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 }.map(Executable.init(path:))
    }

    /// The complete input of a run: nothing is inherited from the test.
    package struct Call: Sendable, CustomStringConvertible {
        /// The arguments, without the program's name.
        package var arguments: [String]
        /// The whole environment.
        package var environment: [String: String]
        /// Standard input.
        package var input: ChildInput
        /// Where standard output goes.
        package var output: ChildOutput
        /// The signals that are blocked when it starts.
        package var blocked: [CInt] = []
        /// After this long the program is killed, and the test fails.
        package var limit: Duration
        /// It cleans up and ends when its input is closed, and is therefore not killed with the
        /// test process.
        var endsWithInput = false

        /// Describes a run; the defaults are empty.
        package init(
            _ arguments: [String], environment: [String: String] = [:],
            input: ChildInput = .bytes([]), output: ChildOutput = .captured,
            limit: Duration = .seconds(180)
        ) {
            self.arguments = arguments
            self.environment = environment
            self.input = input
            self.output = output
            self.limit = limit
        }

        /// The arguments.
        package var description: String { arguments.joined(separator: " ") }
    }

    /// Starts the program; its end is waited for with ``RunningProgram/result()``.
    package func start(_ call: Call) throws -> RunningProgram {
        try start(call, passing: [])
    }

    /// Starts the program with more descriptors than the three of `call`, from 3 on.
    package func start(_ call: Call, passingSockets more: [CInt]) throws -> RunningProgram {
        try start(
            call,
            passing: try more.map { number in
                // Above the numbers that the child gets.
                Descriptor(
                    owning: try checked("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 64) })
            })
    }

    /// Starts the program with more descriptors than the three of `call`.
    func start(_ call: Call, passing more: [Descriptor]) throws -> RunningProgram {
        let streams = try Streams(call)
        let pid = try spawn(
            path, call.arguments, call.environment,
            streams: ([streams.input, streams.output, streams.errors] + more).map(\.number),
            blocked: call.blocked)
        return try RunningProgram(pid, call, streams)
    }

    /// Runs the program to its end.
    ///
    /// - Throws: ``Overdue`` when it had to be killed.
    package func run(_ call: Call) async throws -> ProgramResult {
        try await start(call).result()
    }

    /// Runs the program to its end.
    package func run(
        _ arguments: String..., environment: [String: String] = [:], input: ChildInput = .bytes([])
    ) async throws -> ProgramResult {
        try await run(Call(arguments, environment: environment, input: input))
    }
}

/// A program did not end within its limit.
package struct Overdue: Error, CustomStringConvertible {
    /// The command, and its output so far.
    package let description: String
}
