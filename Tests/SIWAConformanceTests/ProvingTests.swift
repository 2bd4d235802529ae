import SIWAConformance
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Synchronization
import Testing

/// What a run says whose good sign-in fails, and what it would send.
@Suite struct ProvingTests {
    /// A backend that answers every request in the same way.
    private struct Backend: BackendTransport {
        let answer: Result<HTTPResponse, TransportError>

        func send(
            _ method: String, _ request: HTTPRequest, timeout: Duration
        ) async throws(TransportError) -> HTTPResponse { try answer.get() }
    }

    private static let file = #"""
        {"app": "http://127.0.0.1:9",
         "sign_in": {"client_id": "com.example.app", "signed_in": {"status": [200]},
           "steps": [{"post": "/sign-in", "json": {"t": "{{id_token}}"}}]},
         "web": {"client_id": "com.example.web", "redirect_uri": "https://example.com/cb?a=1",
           "start": [{"get": "/auth/apple"}], "signed_in": {"path": "/home"}}}
        """#

    /// Runs against a backend; returns the hints of its failure, and what people are told before.
    private func failure(
        _ backend: Backend, patience: Duration = .zero
    ) async throws -> (hints: [String], notes: [String]) {
        let emulator = try await AppleEmulator.seeded(
            1,
            configuration: EmulatorConfiguration(
                teamID: TeamID(unchecked: "A1B2C3D4E5"),
                clients: [
                    EmulatedClient(clientID: ClientID(unchecked: "com.example.app"), kind: .app)
                ], keys: [], users: []), clock: { NumericDate(1_795_000_000) })
        var options = RunOptions()
        options.patience = patience
        let notes = Mutex<[String]>([])
        let run = try ConformRun(
            ConformFile(json: JSON(text: Self.file)), options,
            apple: LocalApple(emulator, url: "http://127.0.0.1:9"), transport: backend,
            note: { note in notes.withLock { $0.append(note) } }, report: { _ in })
        do {
            try await run.run()
        } catch ConformError.goodSignIn(_, _, let hints) {
            return (hints, notes.withLock { $0 })
        }
        Issue.record("the good sign-in succeeded")
        return ([], [])
    }

    @Test(arguments: [
        (404, "the backend answered with 404: compare the path and the method in FILE"),
        (415, "the backend answered with 415: compare the body and its form with what it expects"),
    ])
    func `a status that tells of a mistake in the file comes first`(
        _ status: Int, _ hint: String
    ) async throws {
        let said = try await failure(Backend(answer: .success(HTTPResponse(status: status))))
        #expect(said.hints.first == hint)
        #expect(!said.hints.contains { $0.contains("asked this emulator for nothing") })
    }

    @Test func `a refusal that tells nothing leads to the address of Apple`() async throws {
        let said = try await failure(Backend(answer: .success(HTTPResponse(status: 401))))
        #expect(said.hints.first?.contains("asked this emulator for nothing") == true)
    }

    @Test func `a template without a value is an error of the file, which names it`() throws {
        let wrong = Self.file.replacing("{{id_token}}", with: "{{id_token}} {{sesion}}")
        let error = #expect(throws: ShapeError.self) {
            try ConformFile(json: JSON(text: wrong))
        }
        #expect(error.map { "\($0)" }?.contains("'{{sesion}}' has no value") == true)
    }

    @Test func `an answer that comes too late leads to --timeout`() async throws {
        let late = TransportError(.timeout, "late", requestMayHaveLeft: true)
        let said = try await failure(Backend(answer: .failure(late)))
        #expect(said.hints.first == "give a --timeout longer than the backend needs")
    }

    @Test func `people are told once that the sign-in is tried again`() async throws {
        let said = try await failure(
            Backend(answer: .success(HTTPResponse(status: 503))), patience: .seconds(3))
        #expect(said.notes.count == 1)
        #expect(said.notes.first?.contains("refused, 503; it is tried again for 3 sec") == true)
    }

    @Test func `a dry run prints the callback with the host of the redirect URI`() throws {
        let text = DryRun(try ConformFile(json: JSON(text: Self.file))).text
        let callback = """
            # web: what the browser brings from Apple's page
            POST http://127.0.0.1:9/cb?a=1
            Host: example.com

            code={{code}}
            id_token={{id_token}}
            user={{user}}
            state={{state}}
            """
        #expect(text.contains(callback), "\(text)")
    }
}
