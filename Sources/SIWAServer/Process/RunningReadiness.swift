internal import SIWAHTTPServer
internal import SIWALifecycle

/// What the siwa-server that runs on this machine answers to `GET /readyz`: it alone meets a full disk
/// of PostgreSQL, and cannot write that into the database.
enum RunningReadiness {
    /// Why it is not ready, a text for each part; empty if it is ready, or none answers.
    ///
    /// - Parameter listener: of the metrics, which has the route.
    static func faults(of listener: ListenerSettings?, in world: ServerWorld) async -> [String] {
        guard let listener, listener.tls == nil, case .tcp(let host, let port) = listener.address,
            port != 0, (try? listener.address.isLocal()) == true,
            let transport = try? world.localTransport()
        else { return [] }
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        let request = HTTPRequest(method: .get, url: "http://\(name):\(port)/readyz")
        guard let answer = try? await transport.send(request, timeout: .seconds(2)),
            answer.status == 503
        else { return [] }
        let text = String(decoding: answer.body, as: UTF8.self)
        return Readiness.faults(in: text)
    }
}
