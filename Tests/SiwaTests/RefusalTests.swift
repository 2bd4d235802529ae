import SIWACrypto
import SIWAJOSE
import SIWATestSupport
import Testing

/// The exit codes and errors if Apple refuses or does not answer.
@Suite struct RefusalTests {
    @Test func `a wrong key leads to exit 4, and the first hint names the key`() async throws {
        let apple = try await LocalApple()
        let wrong = try P256PrivateKey.generate().pemRepresentation().revealed()
        let path = try apple.folder.write("wrong.p8", wrong)
        let result = try await apple.siwa(
            "exchange", "--code", try await apple.code(), "--key", path)
        #expect(result.exitCode == 4 && result.output.isEmpty, "\(result)")
        #expect(result.errors.hasPrefix("siwa: invalid_client: "))
        #expect(result.hints.first?.contains("a different key than \(path)") == true, "\(result)")
    }

    @Test func `if the clock is ahead of Apple's, the first hint says so`() async throws {
        let apple = try await LocalApple()
        let code = try await apple.code()
        try await apple.post("clock", ["offset": "-10m"])
        let result = try await apple.siwa("exchange", "--code", code)
        #expect(result.exitCode == 4, "\(result)")
        // Seconds pass between Apple's answer and siwa's look at its own clock.
        #expect(result.hints.first?.contains("clock is 10 minutes") == true, "\(result)")
    }

    @Test func `a used code leads to exit 5, quoting Apple`() async throws {
        let apple = try await LocalApple()
        let code = try await apple.code()
        #expect(try await apple.siwa("exchange", "--code", code).exitCode == 0)
        let result = try await apple.siwa("exchange", "--code", code)
        #expect(result.exitCode == 5 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("The code has already been used."))
    }

    @Test func `an exchange with a truncated response is sent once and leads to exit 7`()
        async throws
    {
        let apple = try await LocalApple()
        let code = try await apple.code()
        try await apple.post("faults", ["endpoint": "/auth/token", "cut": "no_answer"])
        let result = try await apple.siwa("exchange", "--code", code)
        #expect(result.exitCode == 7 && result.output.isEmpty, "\(result)")
        #expect(try await apple.requests().count == 1)
    }

    @Test func `a refresh succeeds after two outages`() async throws {
        let apple = try await LocalApple()
        let token = try await apple.siwa(
            "exchange", "--code", try await apple.code(), "--print", "refresh_token")
        try await apple.post(
            "faults", ["endpoint": "/auth/token", "status": 503, "page": "html", "count": 2])
        let result = try await apple.siwa("refresh", "--token", "-", input: token.output)
        #expect(result.exitCode == 0, "\(result)")
        #expect(try await apple.requests().count == 4)
    }

    @Test func `a limit with Retry-After is obeyed`() async throws {
        let apple = try await LocalApple()
        let token = try await apple.siwa(
            "exchange", "--code", try await apple.code(), "--print", "refresh_token")
        let limit: JSON = [
            "endpoint": "/auth/token", "status": 429, "page": "empty",
            "headers": ["Retry-After": "1"],
        ]
        try await apple.post("faults", limit)
        let result = try await apple.siwa("refresh", "-v", "--token", "-", input: token.output)
        #expect(result.exitCode == 0 && result.errors.contains("waiting 1 s"), "\(result)")
    }
}
