import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Testing

@Suite struct EmulatorTransportTests {
    private let keys = HTTPRequest(method: .get, url: "https://localhost:9443/auth/keys")

    @Test func `the transport carries requests and responses`() async throws {
        let harness = try await EmulatorHarness()
        let response = try await transport(harness).send(keys, timeout: .seconds(1))
        #expect(KeySet(response.body)?.keys.count == 3)
        let post = HTTPRequest(
            method: .post, url: "https://appleid.apple.com/auth/token",
            fields: [HTTPField("Content-Type", Form.contentType)],
            body: SecretBytes("grant_type=password".utf8))
        let refused = try await transport(harness).send(post, timeout: .seconds(1))
        #expect(Outcome(refused) == Outcome("unsupported_grant_type"))
    }

    @Test(arguments: ["no_answer", "before_body", "mid_body"])
    func `a connection that is cut is an error whose request may have been sent`(_ cut: String)
        async throws
    {
        let harness = try await EmulatorHarness()
        try await harness.control("faults", ["cut": .string(cut)])
        let error = await #expect(throws: TransportError.self) {
            try await transport(harness).send(keys, timeout: .seconds(1))
        }
        #expect(error?.kind == .cut && error?.requestMayHaveLeft == true)
    }

    @Test(arguments: [("1s", nil), ("1001ms", TransportError.Kind.timeout)])
    func `the transport waits for a delayed response`(_ delay: String, _ kind: TransportError.Kind?)
        async throws
    {
        let harness = try await EmulatorHarness()
        try await harness.control("faults", ["delay": .string(delay)])
        do throws(TransportError) {
            let response = try await transport(harness).send(keys, timeout: .seconds(1))
            #expect(kind == nil && response.status == 200)
        } catch {
            #expect(error.kind == kind && error.requestMayHaveLeft)
        }
    }

    @Test func `a cancelled wait throws an error`() async throws {
        let harness = try await EmulatorHarness()
        try await harness.control("faults", ["delay": "1h"])
        let transport = EmulatorTransport(harness.emulator)
        let task = Task { try await transport.send(keys, timeout: .seconds(7200)) }
        task.cancel()
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
    }

    /// A transport on which no time passes.
    private func transport(_ harness: EmulatorHarness) -> EmulatorTransport {
        EmulatorTransport(
            harness.emulator, timekeeper: Timekeeper(elapsed: { .zero }, sleep: { _ in }))
    }
}
