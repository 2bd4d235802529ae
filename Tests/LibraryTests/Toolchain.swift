import Foundation
import SIWATestSupport
import Testing

/// The folder of this package.
let packageRoot = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

/// Runs a program of the toolchain whose `swift` is on PATH.
func swift(_ arguments: [String], tool: String = "swift") async throws -> ProgramResult {
    let environment = ProcessInfo.processInfo.environment
    let path = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(tool)" }
        .first(where: FileManager.default.isExecutableFile)
    return try await Executable(path: try #require(path)).run(
        Executable.Call(arguments, environment: environment, limit: .seconds(300)))
}

/// The arguments with which the compiler finds the modules that were built for these tests.
func builtModuleArguments() throws -> [String] {
    // Beside the test bundle that runs now.
    let own = URL(
        filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    let folder = own.deletingLastPathComponent()
    let maps = try FileManager.default.contentsOfDirectory(
        at: packageRoot.appending(path: "Sources"), includingPropertiesForKeys: nil
    ).map { $0.appending(path: "module.modulemap").path() }
        .filter(FileManager.default.fileExists)
    return ["-I", folder.appending(path: "Modules").path()]
        + ["-target", folder.deletingLastPathComponent().lastPathComponent]
        + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
}
