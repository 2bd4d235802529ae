internal import SIWACurlTransport
internal import SIWALifecycle
internal import SIWASystem

/// Sends requests over libcurl, which is loaded when the first one is sent.
actor FolderTransport: Transport {
    private let folder: Folder
    private var loaded: CurlTransport?

    init(folder: Folder) { self.folder = folder }

    /// Sends `request`; trusts the folder's authority in addition to the system's.
    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        let transport = try curl()
        return try await transport.send(request, timeout: timeout)
    }

    private func curl() throws(TransportError) -> CurlTransport {
        if let loaded { return loaded }
        let authority = folder.path(TLSFiles.authority)
        let transport = try CurlTransport(
            authorityFile: fileExists(authority) ? authority : nil, variables: environment)
        loaded = transport
        return transport
    }
}
