import Foundation
import SIWATestSupport
import Testing

/// The folder of this package.
let packageRoot = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

/// Runs the `swift` that is on PATH.
func swift(_ arguments: [String]) async throws -> ProgramResult {
    let environment = ProcessInfo.processInfo.environment
    let path = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/swift" }
        .first(where: FileManager.default.isExecutableFile)
    return try await Executable(path: try #require(path)).run(
        Executable.Call(arguments, environment: environment, limit: .seconds(300)))
}
