import Glibc

/// The result of running a program.
package struct ProgramResult: Sendable {
    /// How a process ends.
    package enum Ending: Hashable, Sendable, CustomStringConvertible {
        /// By itself, with an exit code.
        case exit(CInt)
        /// By a signal: a crash, unless the test sent it.
        case signal(CInt)

        /// `exit 75` or `signal 11`.
        package var description: String {
            switch self {
            case .exit(let code): "exit \(code)"
            case .signal(let number): "signal \(number)"
            }
        }

        /// Reads the status of `waitpid`.
        init(status: CInt) {
            let signal = status & 0x7F
            self = signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal)
        }
    }

    /// How it ended.
    package let ending: Ending
    /// Its standard output; empty unless captured.
    package let outputBytes: [UInt8]
    /// Its standard error.
    package let errorBytes: [UInt8]

    /// The processor time it used, its own and the system's.
    package let processorTime: Duration

    /// The exit code; nil after a signal.
    package var exitCode: CInt? { if case .exit(let code) = ending { code } else { nil } }
    /// Its standard output as text.
    package var output: String { String(decoding: outputBytes, as: UTF8.self) }
    /// Its standard error as text.
    package var errors: String { String(decoding: errorBytes, as: UTF8.self) }
}

extension ProgramResult: CustomStringConvertible {
    /// All of it, for the message of a failed test.
    package var description: String { "\(ending)\nstdout: \(output)\nstderr: \(errors)" }
}
