import Foundation
import SIWAJOSE
import SIWATestSupport
import Testing

/// A folder made by `siwa-emulator init`, and both programs in it.
struct EmulatorFixture: Sendable {
    let folder: TemporaryFolder

    var path: String { folder.path("apple") }

    init(_ options: String...) async throws {
        folder = try TemporaryFolder()
        let made = try await Executable.product("siwa-emulator").run(
            .init(["init", folder.path("apple")] + options))
        try #require(made.ending == .exit(0), "\(made)")
    }

    func emulator(_ arguments: String...) async throws -> ProgramResult {
        try await Executable.product("siwa-emulator").run(.init(arguments))
    }

    func siwa(_ arguments: String...) async throws -> ProgramResult { try await siwa(arguments) }

    func siwa(_ arguments: [String]) async throws -> ProgramResult {
        try await Executable.product("siwa").run(
            .init(
                arguments,
                environment: ["SIWA_CONFIG": "\(path)/config.json", "HOME": folder.path]))
    }

    /// Serves on a free port until the test ends it, or its time is up.
    func serve(_ options: String...) async throws -> RunningEmulator {
        let ready = folder.path("url")
        // An earlier server of this folder may have left one.
        unlink(ready)
        let program = try Executable.product("siwa-emulator").start(
            .init(["serve", path, "--port", "0", "--ready-file", ready] + options))
        try await eventually("a ready file") { FileManager.default.fileExists(atPath: ready) }
        let url = String(decoding: try folder.contents("url").dropLast(), as: UTF8.self)
        return RunningEmulator(url: url, authority: "\(path)/ca.pem", program: program)
    }

    /// The contents of the folder, in order.
    func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    func permissions(_ name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        return attributes[.posixPermissions] as? Int
    }

    func member(_ file: String, _ name: String) throws -> String {
        try #require(try JSON(folder.contents("apple/\(file)"))[name]?.string)
    }
}

/// A running siwa-emulator; it ends with its last owner.
final class RunningEmulator: Sendable {
    let url: String
    let program: RunningProgram
    private let authority: String

    init(url: String, authority: String, program: RunningProgram) {
        (self.url, self.authority, self.program) = (url, authority, program)
    }

    deinit { program.end() }

    /// Signs alice in, as the README does it.
    func code() async throws -> String {
        let curl = try #require(Executable.installed("curl"))
        let answer = try await curl.run(
            "-sS", "--cacert", authority, "\(url)/emulator/codes", "-d",
            #"{"client_id":"com.example.app"}"#)
        return try #require(try JSON(text: answer.output)["code"]?.string)
    }
}
