internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SignInWithApple

/// A transport under test, and the emulator that it reaches.
struct TransportTrial: Sendable {
    let url: String
    private let transport: any SignInWithApple.Transport

    /// How long a transport may take for what it must do at once.
    static let patience = Duration.seconds(10)

    init(_ transport: any SignInWithApple.Transport, _ url: String) {
        self.transport = transport
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    /// How a request ended.
    enum Outcome: Sendable {
        case answered(TransportResponse)
        case failed(any Error)
    }

    func run(_ check: TransportChecks.Check) async -> TransportCheck {
        do throws(EmulatorError) {
            try await check.body(self)
            return TransportCheck(name: check.name)
        } catch {
            return TransportCheck(name: check.name, failure: error.message)
        }
    }

    /// Sends a request in a task of its own.
    func sending(_ request: TransportRequest) -> Task<Outcome, Never> {
        Task {
            do {
                return .answered(try await transport.send(request))
            } catch {
                return .failed(error)
            }
        }
    }

    /// - Returns: nil if the transport did not end in time.
    func outcome(of sending: Task<Outcome, Never>, within limit: Duration) async -> Outcome? {
        let outcome = await bounded(by: limit, .system) { await sending.value }.value
        sending.cancel()
        return outcome
    }

    private func outcome(of request: TransportRequest) async -> Outcome? {
        await outcome(of: sending(request), within: request.timeout + Self.patience)
    }

    func answered(_ request: TransportRequest) async throws(EmulatorError) -> TransportResponse {
        switch await outcome(of: request) {
        case .answered(let response): return response
        case .failed(let error): throw EmulatorError("it threw \(error)")
        case nil: throw EmulatorError("it did not end in time")
        }
    }

    func failed(_ request: TransportRequest) async throws(EmulatorError) -> any Error {
        switch await outcome(of: request) {
        case .answered(let response):
            throw EmulatorError("it returned a response with status \(response.status)")
        case .failed(let error): return error
        case nil: throw EmulatorError("it did not end in time")
        }
    }

    /// An exchange that Apple refuses.
    func token(timeout: Duration = .seconds(10)) -> TransportRequest {
        TransportRequest(
            method: "POST", url: url + "/auth/token",
            headers: [("User-Agent", "transport-check"), ("Content-Type", Form.contentType)],
            body: Form([
                ("grant_type", .plain("authorization_code")), ("code", .plain("c0ffee")),
                ("client_id", .plain("com.example.\u{E9}")),
            ]).encoded().revealed(), timeout: timeout)
    }
}

// The emulator, controlled over the same transport.
extension TransportTrial {
    /// Returns the emulator to its initial state.
    func reset() async throws(EmulatorError) { try await control("reset", [:]) }

    /// Changes the answer to the next request to `/auth/token`.
    func fault(_ fault: JSON) async throws(EmulatorError) {
        let members = (fault.members ?? []) + [.init("endpoint", "/auth/token")]
        try await control("faults", .object(members))
    }

    /// The requests to Apple since the last reset.
    func received() async throws(EmulatorError) -> [JSON] {
        let answer = try await read(.init(url: url + "/emulator/requests"))
        return answer["requests"]?.elements ?? []
    }

    private func control(_ name: String, _ body: JSON) async throws(EmulatorError) {
        _ = try await read(
            .init(
                method: "POST", url: "\(url)/emulator/\(name)",
                headers: [("Content-Type", "application/json")], body: body.bytes))
    }

    private func read(_ request: TransportRequest) async throws(EmulatorError) -> JSON {
        let response: TransportResponse
        do throws(EmulatorError) {
            response = try await answered(request)
        } catch {
            throw EmulatorError("the transport reaches no emulator at \(url): \(error)")
        }
        guard response.status == 200, let json = try? JSON(response.body) else {
            throw EmulatorError(
                "\(request.url) answered \(response.status): is a siwa-emulator there?")
        }
        return json
    }
}
