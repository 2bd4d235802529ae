import Foundation
import Glibc
import SIWATestSupport
import Testing

private let hasTools = ["bash", "curl", "jq"].allSatisfy { access("/usr/bin/\($0)", X_OK) == 0 }

/// The loop of docs/server.md that pulls events.
@Suite(.blocking, .enabled(if: hasTools, "bash, curl or jq is not installed"))
struct PullLoopTests {
    @Test func `an event whose processing failed is returned again before the others`() async throws
    {
        let fixture = try await ServerFixture(.sqlite)
        let server = try await fixture.serve(fixture.listeners)
        for user in 1...2 {
            _ = try await fixture.notify(
                "email-disabled", of: user, at: try server.notificationURL)
        }
        let folder = fixture.apple.folder
        let usual = #"handle_event() { echo "$1" >> events.log; }"#
        let block = try Self.block()
        try #require(block.contains(usual), "\(block)")
        let script = block.replacing(
            usual,
            with: "handle_event() { [ ! -e fail ] || ! rm fail && echo \"$1\" >> events.log; }")
        try folder.write("fail", "")
        for (cursors, events) in [(0, 0), (1, 2), (1, 2)] {
            _ = try await Executable(path: "/usr/bin/bash").run(
                Executable.Call(
                    ["-c", "cd \"$1\" && socket=api.sock && \(script)", "bash", folder.path],
                    limit: .seconds(60)))
            #expect(FileManager.default.fileExists(atPath: folder.path("cursor")) == (cursors > 0))
            let handled = (try? folder.contents("events.log")) ?? []
            #expect(handled.count { $0 == 0x0A } == events)
        }
    }

    private static func block() throws -> String {
        let document = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../docs/server.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        let block = try #require(text.components(separatedBy: "```bash\n").dropFirst().first)
        return try #require(block.components(separatedBy: "\n```").first)
    }
}
