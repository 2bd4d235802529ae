import Foundation
import SIWATestSupport
import Testing

@testable import SIWASystem

@Suite struct RunningProgramTests {
    @Test func `a process is found by its program, its command and its age`() async throws {
        let folder = try TemporaryFolder()
        let name = "sleeper-\(UUID().uuidString)"
        try FileManager.default.createSymbolicLink(
            atPath: folder.path(name), withDestinationPath: "/bin/sleep")
        #expect(!isRunning(name, "600", longerThan: .zero))
        let process = try Executable(path: folder.path(name)).start(.init(["600"]))
        try await eventually("it is found") { isRunning(name, "600", longerThan: .zero) }
        #expect(!isRunning(name, "600", longerThan: .seconds(3600)))
        #expect(!isRunning(name, "601", longerThan: .zero))
        process.signal(SIGKILL)
        _ = try await process.result()
        #expect(!isRunning(name, "600", longerThan: .zero))
    }
}
