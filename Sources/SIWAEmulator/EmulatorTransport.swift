internal import SIWACrypto
package import SIWALifecycle

/// The emulator as a transport in the same process, with the same faults as over a socket.
package struct EmulatorTransport: Transport {
    private let emulator: AppleEmulator
    private let timekeeper: Timekeeper

    /// Sends requests to `emulator`; `timekeeper` waits for its delays.
    package init(_ emulator: AppleEmulator, timekeeper: Timekeeper = .system) {
        self.emulator = emulator
        self.timekeeper = timekeeper
    }

    /// Sends `request`; the host and the scheme of its URL are ignored.
    package func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        let reply = await emulator.respond(to: EmulatorRequest(request))
        do {
            if reply.delay > .zero { try await timekeeper.sleep(min(reply.delay, timeout)) }
        } catch {
            throw TransportError(.cancelled, "given up", requestMayHaveLeft: true)
        }
        guard reply.delay <= timeout else {
            throw TransportError(.timeout, "no answer in time", requestMayHaveLeft: true)
        }
        guard reply.cut == nil else {
            throw TransportError(.cut, "the connection was cut", requestMayHaveLeft: true)
        }
        return reply.response
    }
}

extension EmulatorRequest {
    /// A request as a server would have received it.
    fileprivate init(_ request: HTTPRequest) {
        let scheme = request.url.hasPrefix("http://") ? "http" : "https"
        let rest = request.url.dropFirst(scheme.count + 3)
        let host = rest.prefix { $0 != "/" }
        self.init(
            method: request.method.rawValue, scheme: scheme,
            target: String(rest.dropFirst(host.count)),
            fields: [HTTPField("Host", String(host))] + request.fields,
            body: request.body.revealed())
    }
}
