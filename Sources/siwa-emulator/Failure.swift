internal import SIWACommandTable
internal import SIWAEmulator
internal import SIWAHTTPServer
internal import SIWASystem

/// An error with its message, hints and exit code.
struct Failure: Error, CustomStringConvertible {
    let code: String
    let message: String
    let hints: [String]
    let exitCode: EmulatorExitCode

    var description: String { message }

    /// The first line says what happened, the others what to do.
    var lines: [String] { ["siwa-emulator: \(code): \(message)"] + hints.map { "hint: \($0)" } }

    /// A fault of the folder or its files.
    static func settings(_ message: String, hints: [String]) -> Self {
        Self(code: "configuration", message: message, hints: hints, exitCode: .settings)
    }

    static func usage(_ message: String, hints: [String]) -> Self {
        Self(code: "usage", message: message, hints: hints, exitCode: .usage)
    }

    init(code: String, message: String, hints: [String], exitCode: EmulatorExitCode) {
        self.code = code
        self.message = maskingSecrets(in: message)
        self.hints = hints.map { maskingSecrets(in: $0) }
        self.exitCode = exitCode
    }

    init(_ error: any Error) {
        self =
            switch error {
            case let failure as Failure: failure
            case let error as UsageError: .usage(error.message, hints: error.hints)
            case let error as ServerError: Self(error)
            case let error as FileError: Self(error)
            default:
                Self(
                    code: "defect", message: "\(error)",
                    hints: ["report it, with the command you ran"], exitCode: .defect)
            }
    }

    private init(_ error: FileError) {
        self.init(
            code: error.isTemporary ? "temporary" : "configuration", message: error.description,
            hints: [
                error.remedy
                    ?? (error.isTemporary
                        ? "free space on the disk, then run it again" : "name a path to use")
            ],
            exitCode: error.isTemporary ? .temporary : .settings)
    }

    private init(_ error: ServerError) {
        self =
            switch error {
            case .address(let text):
                .usage(
                    "'\(text)' is not an IP address",
                    hints: ["--listen 0.0.0.0 means every IPv4 address of this machine"])
            case .inUse(let address, let port):
                Self(
                    code: "temporary", message: "port \(port) of \(address) is in use",
                    hints: [
                        """
                        stop what listens there, or give another --port, and let your programs \
                        look for Apple there
                        """
                    ],
                    exitCode: .temporary)
            case .refused(let address, let port, let reason):
                .settings(
                    "cannot listen on port \(port) of \(address): \(reason)",
                    hints: ["give an address of this machine and a port from 1024 on"])
            case .notStarted, .identity, .socket, .socketInUse, .group, .notInherited:
                .settings(
                    "the server does not start with the certificate in server.pem",
                    hints: ["remove server.pem: the next start makes a new one"])
            }
    }
}
