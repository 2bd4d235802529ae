internal import SIWAJOSE
internal import SIWALifecycle
public import SignInWithApple

/// The result of one of ``TransportChecks``.
public struct TransportCheck: Hashable, Sendable {
    /// What the transport must do, as a sentence.
    public let name: String
    /// What it did instead; nil if it passed.
    public let failure: String?

    /// Creates a result.
    public init(name: String, failure: String? = nil) {
        (self.name, self.failure) = (name, failure)
    }
}

/// Checks that a transport of your own does what `Transport` demands: it loses no response, spends
/// no code twice, sends no secret somewhere else, and ends in time.
///
/// ```swift
/// @Test func `my transport can carry sign-ins`() async throws {
///     let checks = try await TransportChecks.run(MyTransport(), emulator: "http://127.0.0.1:9500")
///     #expect(checks.filter { $0.failure != nil } == [])
/// }
/// ```
public enum TransportChecks {
    /// Runs all checks, one after the other, in some seconds.
    ///
    /// - Parameters:
    ///   - transport: the transport.
    ///   - url: the origin of a `siwa-emulator serve` that nothing else uses meanwhile.
    ///   - untrusted: the origin of an emulator with TLS whose authority the transport does not
    ///     trust (`siwa-emulator serve --tls`); nil leaves the check of certificates out.
    /// - Returns: a result for each check.
    /// - Throws: ``EmulatorError`` if the transport reaches no emulator at `url`.
    public static func run(
        _ transport: any SignInWithApple.Transport, emulator url: String, untrusted: String? = nil
    ) async throws(EmulatorError) -> [TransportCheck] {
        let trial = TransportTrial(transport, url)
        try await trial.reset()
        var results: [TransportCheck] = []
        for check in all {
            results.append(await trial.run(check))
            try await trial.reset()
        }
        if let untrusted {
            results.append(await trial.run(.certificate(of: untrusted)))
        }
        return results
    }

    /// A check, which throws what the transport did wrong.
    struct Check: Sendable {
        let name: String
        let body: @Sendable (TransportTrial) async throws(EmulatorError) -> Void

        init(
            _ name: String,
            _ body: @escaping @Sendable (TransportTrial) async throws(EmulatorError) -> Void
        ) {
            (self.name, self.body) = (name, body)
        }
    }

    private static let all: [Check] = [
        .response, .request, .statuses, .redirects, .lostAnswer, .cutAnswer, .timeout,
        .cancellation, .unreachable, .concurrency,
    ]
}

extension TransportChecks.Check {
    static let response = Self("returns status, header fields and body") {
        trial throws(EmulatorError) in
        let response = try await trial.answered(.init(url: trial.url + "/auth/keys"))
        try require(response.status == 200, "the status was \(response.status), not 200")
        try require(
            (try? JSON(response.body))?["keys"] != nil, "the body is not that of Apple's keys")
        let type = response.response.fields["content-type"] ?? "missing"
        try require(type.hasPrefix("application/json"), "the field Content-Type was \(type)")
    }

    static let request = Self("sends method, header fields and body unchanged") {
        trial throws(EmulatorError) in
        let response = try await trial.answered(trial.token())
        try require(response.status == 400, "the status was \(response.status), not 400")
        let rows = try await trial.received()
        try require(rows.count == 1, "the emulator received \(rows.count) requests, not 1")
        let seen = ["method", "path", "user_agent", "content_type", "client_id"].map {
            rows.first?[$0]?.string ?? "nothing"
        }
        let sent = [
            "POST", "/auth/token", "transport-check", Form.contentType, "com.example.\u{E9}",
        ]
        try require(seen == sent, "the emulator received \(seen), not \(sent)")
    }

    static let statuses = Self("returns a response with any status, and does not repeat it") {
        trial throws(EmulatorError) in
        for status in [400, 401, 404, 429, 500, 503] {
            try await trial.fault([
                "status": .integer(status), "headers": ["Retry-After": "7"],
            ])
            let response = try await trial.answered(trial.token())
            try require(response.status == status, "\(response.status) came for a \(status)")
            let wait = response.response.fields["retry-after"] ?? "missing"
            try require(wait == "7", "the field Retry-After was \(wait)")
            let count = try await trial.received().count
            try require(count == 1, "the request was sent \(count) times after a \(status)")
            try await trial.reset()
        }
    }

    static let redirects = Self("follows no redirect") { trial throws(EmulatorError) in
        for status in [301, 302, 303, 307, 308] {
            try await trial.fault([
                "status": .integer(status),
                "headers": ["Location": .string(trial.url + "/auth/revoke")],
            ])
            let response = try await trial.answered(trial.token())
            try require(response.status == status, "\(response.status) came for a \(status)")
            let count = try await trial.received().count
            try require(count == 1, "it followed a \(status)")
            try await trial.reset()
        }
    }

    static let lostAnswer = Self("sends nothing twice when a used connection ends") {
        trial throws(EmulatorError) in
        // A connection that is used again is what many clients repeat a request for.
        _ = try await trial.answered(.init(url: trial.url + "/auth/keys"))
        try await trial.fault(["cut": "no_answer"])
        let error = try await trial.failed(trial.token())
        let isDenied = (error as? SignInWithApple.TransportError)?.requestMayHaveLeft == false
        try require(!isDenied, "its error denies that the request was sent")
        let count = try await trial.received().count { $0["path"]?.string == "/auth/token" }
        try require(count == 1, "the request was sent \(count) times")
    }

    static let cutAnswer = Self("throws if a response is not complete") {
        trial throws(EmulatorError) in
        try await trial.fault(["cut": "mid_body"])
        _ = try await trial.failed(trial.token())
    }

    static let timeout = Self("ends at the request's time limit") { trial throws(EmulatorError) in
        try await trial.fault(["delay": "1h"])
        _ = try await trial.failed(trial.token(timeout: .milliseconds(300)))
    }

    static let cancellation = Self("ends when its task is cancelled") {
        trial throws(EmulatorError) in
        try await trial.fault(["delay": "1h"])
        let sending = trial.sending(trial.token(timeout: .seconds(600)))
        for _ in 0..<200 where try await trial.received().isEmpty {
            try? await Task.sleep(for: .milliseconds(20))
        }
        sending.cancel()
        let outcome = await trial.outcome(of: sending, within: TransportTrial.patience)
        guard case .failed? = outcome else { throw EmulatorError("it did not end in time") }
    }

    static let unreachable = Self("throws if nobody listens") { trial throws(EmulatorError) in
        // TCP port 1 is assigned to a protocol that nobody uses any more.
        _ = try await trial.failed(.init(url: "http://127.0.0.1:1/auth/keys"))
    }

    static let concurrency = Self("returns each of many responses to its own request") {
        trial throws(EmulatorError) in
        let paths = ["/auth/keys", "/.well-known/openid-configuration"]
        let wrong = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let path = paths[number % 2]
                    let response = try? await trial.answered(.init(url: trial.url + path))
                    let body = response.flatMap { try? JSON($0.body) }
                    return body?[number % 2 == 0 ? "keys" : "issuer"] == nil
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        try require(wrong == 0, "\(wrong) of 40 concurrent requests had no or another's response")
    }

    static func certificate(of untrusted: String) -> Self {
        Self("refuses a server whose certificate it does not trust") {
            trial throws(EmulatorError) in
            _ = try await trial.failed(.init(url: untrusted + "/auth/keys"))
        }
    }
}

private func require(_ isMet: Bool, _ failure: @autoclosure () -> String) throws(EmulatorError) {
    guard isMet else { throw EmulatorError(failure()) }
}
