package import AppleEmulator
internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// The emulated Apple behind a socket, for clients in any language.
package struct EmulatorServer: Sendable {
    /// Where it listens.
    package let url: String
    /// Whether nobody outside this machine can reach it.
    package let isOnLoopback: Bool

    /// What proves the server to TLS clients, both in PEM.
    package struct Identity: Sendable {
        let certificate: String
        let key: String

        /// Pairs a certificate with its private key.
        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// Where to listen: port 0 is any free one.
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
    ///   - emulator: Made once the port is ours, because making its keys takes a moment.
    ///   - identity: Makes it speak TLS.
    /// - Throws: ``ServerError`` when it does not listen, and what `body` throws.
    package static func serving<Result: Sendable>(
        _ emulator: @autoclosure () async throws -> AppleEmulator,
        on address: Address = Address(), identity: Identity? = nil,
        while body: (EmulatorServer) async throws -> Result
    ) async throws -> Result {
        // A client that hangs up must not end the program.
        signal(SIGPIPE, SIG_IGN)
        let scheme = identity == nil ? "http" : "https"
        let socket = try ListeningSocket.open(address.host, port: address.port)
        let context = RequestContext(emulator: try await emulator(), scheme: scheme)
        let url = "\(scheme)://\(reachable(address.host)):\(socket.port)"
        let daemon = try start(socket, identity, context)
        do {
            let isOnLoopback = address.host == "::1" || address.host.hasPrefix("127.")
            let result = try await body(EmulatorServer(url: url, isOnLoopback: isOnLoopback))
            await stop(daemon, context)
            return result
        } catch {
            await stop(daemon, context)
            throw error
        }
    }

    /// libmicrohttpd must not stop while a connection is suspended, and its callbacks use
    /// `context` until it has.
    private static func stop(_ daemon: OpaquePointer, _ context: RequestContext) async {
        await context.inFlight.close()
        MHD_stop_daemon(daemon)
        // A task lets go of its request a moment after it has left the list of those in flight.
        for _ in 0..<1000 where context.exchanges.load(ordering: .relaxed) != 0 {
            try? await Task.sleep(for: .milliseconds(1))
        }
        assert(context.exchanges.load(ordering: .relaxed) == 0, "a request was never freed")
    }

    private static func start(
        _ socket: consuming ListeningSocket, _ identity: Identity?, _ context: RequestContext
    ) throws(ServerError) -> OpaquePointer {
        let limits = siwa_limits(connections: 1000, idle_seconds: 15, header_bytes: 64 * 1024)
        // libmicrohttpd closes the socket from here on, also when it fails to start.
        let daemon = siwa_start_daemon(
            socket.release(), identity?.certificate, identity?.key, limits,
            callbacks(for: context))
        guard let daemon else { throw .notStarted }
        return daemon
    }

    /// How this machine reaches an address: every address is not one to connect to.
    private static func reachable(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "[::1]"
        default: host.contains(":") ? "[\(host)]" : host
        }
    }
}
