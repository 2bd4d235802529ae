import TestSupport
import Testing

/// When standard output cannot take the result.
@Suite struct OutputTests {
    private let siwa: Siwa

    init() throws { siwa = try Siwa() }

    @Test func `a reader that went away is no error`() async throws {
        try await RawServer.serving(.answering(200, tokens)) { server in
            for var call in [siwa.refresh(server.url), .init(["--help"]), .init(["manual"])] {
                call.output = .closedPipe
                let result = try await siwa.run(call)
                #expect(result.ending == .exit(0), "\(result)")
                #expect(result.errorBytes.isEmpty, "\(result)")
            }
        }
    }

    @Test func `a full disk is a clear error`() async throws {
        try await RawServer.serving(.answering(200, tokens)) { server in
            // A code is spent: trying later, as 75 would have it, can only be refused.
            for (var call, exitCode) in [
                (siwa.refresh(server.url), CInt(75)), (siwa.exchange(server.url), 7),
                (.init(["--help"]), 75),
            ] {
                call.output = .file("/dev/full")
                let result = try await siwa.run(call)
                #expect(result.ending == .exit(exitCode), "\(result)")
                #expect(result.errors.contains("no space left on device"), "\(result)")
                #expect(result.errors.contains("standard output"), "\(result)")
            }
        }
    }
}
