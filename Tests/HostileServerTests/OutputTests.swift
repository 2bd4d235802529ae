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
            for var call in [
                siwa.refresh(server.url), siwa.exchange(server.url), .init(["--help"]),
            ] {
                call.output = .file("/dev/full")
                let result = try await siwa.run(call)
                #expect(result.ending == .exit(75), "\(result)")
                #expect(result.errors.contains("no space left on device"), "\(result)")
                #expect(result.errors.contains("standard output"), "\(result)")
            }
            // It refuses even to take nothing: the code was kept from being spent.
            #expect(server.requests.allSatisfy { $0.parameter("code") == nil })
        }
    }
}
