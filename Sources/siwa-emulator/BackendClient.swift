internal import SIWAConformance
internal import SIWACurlTransport
internal import SIWALifecycle
internal import SIWASystem

/// Sends the requests of a conformance run over libcurl: no proxies, no redirects.
actor BackendClient: BackendTransport {
    private let authorityFile: String?
    private var loaded: [String: CurlTransport] = [:]

    init(authorityFile: String?) { self.authorityFile = authorityFile }

    func send(
        _ method: String, _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        try await transport(method).send(request, timeout: timeout)
    }

    private func transport(_ method: String) throws(TransportError) -> CurlTransport {
        // GET and POST are methods of a request; every other method is an option of a transport.
        let custom = ["GET", "POST"].contains(method) ? nil : method
        if let known = loaded[custom ?? ""] { return known }
        let transport = try CurlTransport(
            authorityFile: authorityFile, variables: environment,
            policy: TransferPolicy(usesProxies: false, method: custom))
        loaded[custom ?? ""] = transport
        return transport
    }
}
