package import SIWAEmulator
package import SIWAHTTPServer
internal import SIWALifecycle

/// The emulated Apple behind a socket, for clients in any language.
package struct EmulatorServer: Sendable {
    /// Where it listens.
    package let url: String
    /// Whether it can be reached from this machine only.
    package let isOnLoopback: Bool

    /// Where to listen; port 0 chooses any free port.
    package struct Address: Sendable {
        let host: String
        let port: UInt16

        /// Pairs an IPv4 or IPv6 address with a port.
        package init(host: String = "127.0.0.1", port: UInt16 = 0) {
            self.host = host
            self.port = port
        }
    }

    /// Serves while `body` runs; when this returns, every connection is closed and
    /// everything is freed.
    ///
    /// - Parameters:
    ///   - emulator: creates the emulator after the port is bound, because generating its keys
    ///     takes a moment.
    ///   - identity: the certificate and key for TLS; nil for plain HTTP.
    /// - Throws: ``ServerError`` if it cannot listen, and the errors of `body`.
    package static func serving<Result: Sendable>(
        _ emulator: @autoclosure () async throws -> AppleEmulator,
        on address: Address = Address(), identity: TLSIdentity? = nil,
        while body: (EmulatorServer) async throws -> Result
    ) async throws -> Result {
        let scheme = identity == nil ? "http" : "https"
        let socket = try ListeningSocket.open(.tcp(host: address.host, port: address.port))
        let (port, isLocal) = (socket.port, socket.isLocal)
        let emulator = try await emulator()
        let server = try HTTPServer(
            // The emulator's clock may differ from the system's.
            socket, identity: identity, limits: limits, sendsDate: false
        ) { request in
            .later { await ServerResponse(emulator.respond(to: EmulatorRequest(request, scheme))) }
        }
        do {
            let url = "\(scheme)://\(reachable(address.host)):\(port)"
            let result = try await body(EmulatorServer(url: url, isOnLoopback: isLocal))
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    private static var limits: ServerLimits {
        var limits = ServerLimits()
        limits.connections = 1000
        limits.headerBytes = 32 << 10
        limits.bodyBytes = EmulatorRequest.bodyLimit + 1
        // Bodies that are too large are read to their end, because the emulator records them.
        limits.readBytes = .max
        limits.requestTime = .seconds(30)
        limits.idleTime = .seconds(15)
        return limits
    }

    /// An address that clients on this machine can connect to: a wildcard address is replaced by
    /// loopback.
    private static func reachable(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "[::1]"
        default: host.contains(":") ? "[\(host)]" : host
        }
    }
}

extension EmulatorRequest {
    fileprivate init(_ request: ServerRequest, _ scheme: String) {
        self.init(
            method: request.method, scheme: scheme, target: request.target,
            fields: request.fields, body: request.body)
    }
}

extension ServerResponse {
    /// The emulator's answer, after the delay of a fault.
    fileprivate init(_ reply: EmulatorReply) async {
        // A stopping server cancels the wait; the answer is then sent early.
        if reply.delay > .zero { try? await Task.sleep(for: reply.delay) }
        let whole = reply.response
        self.init(status: whole.status, fields: whole.fields, body: .bytes(whole.body))
        if let events = reply.events {
            body = .stream { writer in
                var events = events
                while let bytes = await events.next(), await writer.write(bytes) {}
            }
            return
        }
        switch reply.cut {
        case nil: break
        case .noAnswer: body = .dropped
        case .beforeBody: body = .broken([], announced: whole.body.count)
        case .midBody:
            body = .broken(
                Array(whole.body.prefix(whole.body.count / 2)), announced: whole.body.count)
        }
    }
}
