import TestSupport
import Testing

/// Standard output to which the result cannot be written.
@Suite struct OutputTests {
    private let siwa: Siwa

    init() throws { siwa = try Siwa() }

    @Test func `a reader may close the output of a command that only shows something`() async throws
    {
        for var call in [Executable.Call(["--help"]), Executable.Call(["manual"])] {
            call.output = .closedPipe
            let result = try await siwa.run(call)
            #expect(result.ending == .exit(0), "\(result)")
            #expect(result.errorBytes.isEmpty, "\(result)")
        }
    }

    @Test(arguments: [ChildOutput.closedPipe, .closedSocket])
    func `a closed output after a change is reported`(_ output: ChildOutput) async throws {
        try await RawServer.serving(.answering(200, tokens)) { server in
            var call = siwa.refresh(server.url)
            call.output = output
            let result = try await siwa.run(call)
            #expect(result.ending == .exit(74), "\(result)")
            #expect(
                result.errors.hasPrefix(
                    "siwa: not_delivered: Apple accepted the refresh token, but standard output is closed"
                ),
                "\(result)")
        }
    }

    @Test(arguments: [ChildOutput.closedPipe, .closedSocket])
    func `a reader that went away is noticed before a code is sent`(
        _ output: ChildOutput
    ) async throws {
        try await RawServer.serving(.answering(200, tokens)) { server in
            var call = siwa.exchange(server.url)
            call.output = output
            let result = try await siwa.run(call)
            #expect(result.ending == .exit(74), "\(result)")
            #expect(result.errors.contains("nothing was sent"), "\(result)")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a full disk is a clear error`() async throws {
        try await RawServer.serving(.answering(200, tokens)) { server in
            for var call in [
                siwa.refresh(server.url), siwa.exchange(server.url), .init(["--help"]),
            ] {
                call.output = .file("/dev/full")
                let result = try await siwa.run(call)
                #expect(result.ending == .exit(74), "\(result)")
                #expect(result.errors.contains("no space left on device"), "\(result)")
                #expect(result.errors.contains("standard output"), "\(result)")
            }
            // It refuses even to take nothing: the code was kept from being spent.
            #expect(server.requests.allSatisfy { $0.parameter("code") == nil })
        }
    }
}
