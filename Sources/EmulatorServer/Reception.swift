internal import AppleEmulator
internal import CMicroHTTPD
internal import SignInWithApple
internal import Synchronization

/// What the callbacks of one server work with.
final class Reception: Sendable {
    let inFlight = InFlight()
    /// How many requests libmicrohttpd works on.
    let exchanges = Atomic(0)
    private let emulator: AppleEmulator
    private let scheme: String

    init(emulator: AppleEmulator, scheme: String) {
        self.emulator = emulator
        self.scheme = scheme
    }

    /// Takes one step of one request, on libmicrohttpd's thread.
    func step(
        _ exchange: Exchange, on connection: Connection, method: String,
        receiving bytes: UnsafeRawBufferPointer
    ) -> MHD_Result {
        switch exchange.step(receiving: bytes) {
        case .wait: return .YES
        case .abort: return .NO
        case .answer(let body):
            let request = EmulatorRequest(
                method: method, scheme: scheme, target: exchange.target,
                fields: connection.fields, body: body)
            return answer(request, in: exchange, on: connection) ? .YES : .NO
        case .send(let reply):
            guard reply.cut != .noAnswer,
                let response = OwnedResponse(reply.response, cut: reply.cut)
            else { return .NO }
            return connection.queue(response, status: reply.response.status)
        }
    }

    /// Suspends the connection before anybody can resume it, and asks the emulator.
    private func answer(
        _ request: EmulatorRequest, in exchange: Exchange, on connection: Connection
    ) -> Bool {
        inFlight.start(prepare: connection.suspend) { [emulator] in
            let reply = await emulator.respond(to: request)
            // A stopping server ends the wait, and the answer leaves early.
            if reply.delay > .zero { try? await Task.sleep(for: reply.delay) }
            exchange.answer(reply)
            connection.resume()
        }
    }
}
