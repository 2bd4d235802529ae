internal import SIWACurlTransport
internal import SIWALifecycle
public import SignInWithApple

/// Sends requests with libcurl. It requires TLS 1.2 or newer, always checks certificate and host,
/// does not follow redirects, and uses `HTTPS_PROXY` and `NO_PROXY`.
///
/// Many tasks may share a transport, whose requests share connections.
public struct CurlTransport: SignInWithApple.Transport {
    private let curl: CurlEngine

    /// Loads libcurl.
    ///
    /// - Parameter authorityFile: a PEM file of certificates to trust in addition to the system's.
    /// - Throws: `TransportError` if libcurl is missing or too old, or if the file cannot be
    ///   read.
    public init(authorityFile: String? = nil) throws(SignInWithApple.TransportError) {
        do {
            curl = try CurlEngine(authorityFile: authorityFile)
        } catch {
            throw SignInWithApple.TransportError(error)
        }
    }

    /// True: certificate and host are always verified.
    public var authenticatesServer: Bool { true }

    /// Sends a request once; see `Transport`.
    public func send(
        _ request: TransportRequest
    ) async throws(SignInWithApple.TransportError) -> TransportResponse {
        do {
            return TransportResponse(
                try await curl.send(request.request, timeout: request.timeout))
        } catch {
            throw SignInWithApple.TransportError(error)
        }
    }
}
