import Foundation
import Glibc
import TestSupport
import Testing

/// Ctrl-C and `kill` while siwa waits for a server or for input.
@Suite struct SignalTests {
    static let endings: [(CInt, CInt)] = [(SIGINT, 130), (SIGTERM, 143)]

    @Test(arguments: endings)
    func `a second signal during a request`(_ signal: CInt, _ exitCode: CInt) async throws {
        let siwa = try Siwa()
        try await RawServer.serving([.readRequest, .hold]) { server in
            let running = try siwa.executable.start(siwa.refresh(server.url, timeout: "1h"))
            try await eventually("the request is there") { server.requests.count == 1 }
            running.signal(signal)
            // The kernel merges two signals that are pending at the same time; any pause separates
            // them.
            try await Task.sleep(for: .milliseconds(50))
            running.signal(signal)
            let result = try await running.result()
            #expect(result.ending == .exit(exitCode), "\(result)")
            #expect(result.outputBytes.isEmpty, "\(result)")
        }
    }

    @Test(arguments: endings)
    func `a signal between two attempts`(_ signal: CInt, _ exitCode: CInt) async throws {
        let siwa = try Siwa()
        let throttle = [Step].answering(429, "", fields: ["Retry-After: 600"])
        try await RawServer.serving(throttle) { server in
            let running = try siwa.executable.start(siwa.refresh(server.url, timeout: "1h"))
            try await eventually("the answer is taken") { server.endedCount == 1 }
            running.signal(signal)
            #expect(try await running.result().ending == .exit(exitCode))
        }
    }

    @Test func `a signal while siwa reads standard input`() async throws {
        let siwa = try Siwa()
        var call = siwa.exchange("http://127.0.0.1:9")
        call.input = .pipe
        let running = try siwa.executable.start(call)
        try await eventually("siwa reads") { isReadingInput(running.pid) }
        running.signal(SIGINT)
        #expect(try await running.result().ending == .exit(130))
    }
}
