import Foundation
import Glibc
import SIWATestSupport
import Testing

/// Ctrl-C and `kill` while siwa waits for a server or for input.
@Suite struct SignalTests {
    static let endings: [(CInt, CInt)] = [
        (SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129), (SIGQUIT, 131), (SIGUSR1, 138),
        (SIGUSR2, 140), (SIGXCPU, 152),
    ]

    @Test(arguments: endings)
    func `a second signal during a request ends siwa`(_ signal: CInt, _ exitCode: CInt) async throws
    {
        let siwa = try Siwa()
        try await RawServer.serving([.readRequest, .hold]) { server in
            let running = try siwa.executable.start(siwa.refresh(server.url, timeout: "1h"))
            try await eventually("the request is there") { server.requests.count == 1 }
            running.signal(signal)
            // The kernel merges two signals that are pending at the same time.
            try await eventually("the first signal is delivered") { !hasPendingSignal(running.pid) }
            running.signal(signal)
            let result = try await running.result()
            #expect(result.ending == .exit(exitCode), "\(result)")
            #expect(result.outputBytes.isEmpty, "\(result)")
        }
    }

    @Test(arguments: endings)
    func `a signal between two attempts ends siwa`(_ signal: CInt, _ exitCode: CInt) async throws {
        let siwa = try Siwa()
        let throttle = [Step].answering(429, "", fields: ["Retry-After: 600"])
        try await RawServer.serving(throttle) { server in
            let running = try siwa.executable.start(siwa.refresh(server.url, timeout: "1h"))
            try await eventually("the answer is taken") { server.endedCount == 1 }
            running.signal(signal)
            #expect(try await running.result().ending == .exit(exitCode))
        }
    }

    /// Starts an exchange that waits for its code, which no server would get.
    private func waitingForInput(
        _ siwa: Siwa, _ change: (inout Executable.Call) -> Void = { _ in }
    ) async throws -> RunningProgram {
        var call = siwa.exchange("http://127.0.0.1:9")
        call.input = .pipe
        var executable = siwa.executable
        change(&call)
        if call.arguments.first == "-c" { executable = Executable(path: "/bin/sh") }
        let running = try executable.start(call)
        try await eventually("siwa reads") { isReadingInput(running.pid) }
        return running
    }

    @Test(arguments: endings)
    func `a signal ends siwa while it reads standard input`(
        _ signal: CInt, _ exitCode: CInt
    ) async throws {
        let siwa = try Siwa()
        let running = try await waitingForInput(siwa)
        running.signal(signal)
        #expect(try await running.result().ending == .exit(exitCode))
    }

    @Test(arguments: endings)
    func `a signal that was blocked at the start ends siwa`(
        _ signal: CInt, _ exitCode: CInt
    ) async throws {
        let siwa = try Siwa()
        let running = try await waitingForInput(siwa) {
            $0.blocked = Self.endings.map(\.0) + [SIGALRM]
        }
        running.signal(signal)
        #expect(try await running.result().ending == .exit(exitCode))
    }

    @Test(arguments: endings)
    func `a signal that was ignored at the start stays ignored`(
        _ signal: CInt, _ exitCode: CInt
    ) async throws {
        let siwa = try Siwa()
        let running = try await waitingForInput(siwa) {
            $0.arguments =
                ["-c", "trap '' \(signal); exec \"$0\" \"$@\"", siwa.executable.path]
                + $0.arguments
        }
        running.signal(signal)
        try running.write(Siwa.code + "\n")
        // It went on: the server could not be reached.
        #expect(try await running.result().ending == .exit(75))
    }

    @Test(arguments: [SIGALRM, SIGPIPE, SIGXFSZ])
    func `a signal that siwa does not handle changes nothing`(_ signal: CInt) async throws {
        let siwa = try Siwa()
        let running = try await waitingForInput(siwa)
        running.signal(signal)
        try running.write(Siwa.code + "\n")
        let result = try await running.result()
        #expect(result.ending == .exit(75), "\(result)")
        #expect(!result.errors.contains("hung"), "\(result)")
    }

    @Test func `SIGALRM from another process does not end a request`() async throws {
        let siwa = try Siwa()
        let answer = [Step].answering(200, tokens).dropFirst()
        try await RawServer.serving([.readRequest, .pause(.seconds(1))] + answer) { server in
            let running = try siwa.executable.start(siwa.refresh(server.url, timeout: "1h"))
            try await eventually("the request is there") { server.requests.count == 1 }
            for _ in 0..<5 { running.signal(SIGALRM) }
            let result = try await running.result()
            #expect(result.ending == .exit(0), "\(result)")
            #expect(!result.errors.contains("hung"), "\(result)")
        }
    }
}
