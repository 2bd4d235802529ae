internal import Dispatch
internal import SIWACCurl
package import SIWACrypto
package import SIWALifecycle

/// Makes TLS handshakes to examine the certificates and ciphers of servers; sends no requests.
///
/// It continues with an invalid certificate in order to report its faults.
package struct TLSInspector: Sendable {
    private let library: CurlLibrary
    private let authorities: Authorities

    /// Loads libcurl.
    ///
    /// - Parameters:
    ///   - authorityFile: certificates to trust besides the system's.
    ///   - variables: the environment, as for ``CurlTransport``.
    /// - Throws: ``TransportError``.
    package init(
        authorityFile: String?, variables: (String) -> String?
    ) throws(TransportError) {
        library = try CurlLibrary.shared.get()
        guard library.usesOpenSSL else {
            throw unavailable("TLS cannot be examined: libcurl does not use OpenSSL 3")
        }
        authorities = try Authorities(adding: authorityFile, variables: variables, library)
    }

    /// Connects to the server of an https URL.
    ///
    /// - Parameter host: the name or address in `url`, which the certificate must have.
    /// - Throws: ``TransportError`` if the handshake does not succeed.
    package func handshake(
        with url: String, host: String, _ offer: TLSOffer, timeout: Duration
    ) async throws(TransportError) -> TLSHandshake {
        let (library, authorities) = (library, authorities)
        return try await withCheckedContinuation { continuation in
            DispatchQueue(label: "siwa.tls", qos: .userInitiated).async {
                continuation.resume(
                    returning: Result { () throws(TransportError) in
                        try TLSInspection(host: host, authorities, library)
                            .handshake(with: url, offer, timeout: timeout)
                    })
            }
        }.get()
    }
}

/// One connection. libcurl's callback receives it unretained, and only while
/// ``handshake(with:_:timeout:)`` runs.
private final class TLSInspection {
    private let easy: UnsafeMutableRawPointer
    private let library: CurlLibrary
    private let authorities: Authorities
    private let host: String
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var outcome: Result<TLSHandshake, OpenSSLError>?

    init(
        host: String, _ authorities: Authorities, _ library: CurlLibrary
    ) throws(TransportError) {
        guard let easy = library.curl.call.curl_easy_init() else {
            errorText.deallocate()
            throw unavailable("libcurl has no memory")
        }
        (self.easy, self.library, self.authorities, self.host) = (easy, library, authorities, host)
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        library.curl.call.curl_easy_cleanup(easy)
        errorText.deallocate()
    }

    func handshake(
        with url: String, _ offer: TLSOffer, timeout: Duration
    ) throws(TransportError) -> TLSHandshake {
        try configure(url, offer, timeout: timeout)
        let code = library.curl.call.curl_easy_perform(easy)
        switch outcome {
        case .success(let handshake): return handshake
        case .failure(let error): throw unavailable("TLS cannot be examined: \(error)")
        case nil:
            let detail = String(cString: errorText)
            throw TransportError(
                TransportError.Kind(code), detail.isEmpty ? library.message(code) : detail,
                requestMayHaveLeft: false)
        }
    }

    private func configure(
        _ url: String, _ offer: TLSOffer, timeout: Duration
    ) throws(TransportError) {
        let options = EasyOptions(easy: easy, library: library)
        try options.setCommon(trusting: authorities)
        try options.set(CURLOPT_URL, url)
        try options.set(CURLOPT_ERRORBUFFER, lending: errorText)
        try options.set(CURLOPT_TIMEOUT_MS, max(timeout.wholeMilliseconds, 1))
        // `TLSHandshake` verifies the certificate and reports its faults. Nothing is sent.
        try options.set(CURLOPT_SSL_VERIFYPEER, 0)
        try options.set(CURLOPT_SSL_VERIFYHOST, 0)
        try options.set(CURLOPT_SSLVERSION, offer.oldestVersion)
        try options.set(CURLOPT_SSL_CIPHER_LIST, offer.ciphers)
        let context = Unmanaged.passUnretained(self).toOpaque()
        try options.set(CURLOPT_PREREQDATA, lending: context)
        try options.check(
            siwa_set_prerequest(library.curl, easy) { context, _, _, _, _ in
                context.map {
                    Unmanaged<TLSInspection>.fromOpaque($0).takeUnretainedValue().examine()
                }
                // Ends the transfer before anything is sent.
                return CURL_PREREQFUNC_ABORT
            })
    }

    /// Reads the session while the connection is open.
    private func examine() {
        guard let session = siwa_tls_session(library.curl, easy) else { return }
        outcome = Result { () throws(OpenSSLError) in
            try TLSHandshake(
                reading: session, with: host, trusting: authorities.folder, authorities.file)
        }
    }
}

extension TLSOffer {
    fileprivate var oldestVersion: Int {
        switch self {
        case .modern: CURL_SSLVERSION_TLSv1_2
        case .everything: CURL_SSLVERSION_TLSv1_0
        }
    }

    /// For TLS 1.2 and older; every suite of TLS 1.3 has forward secrecy.
    fileprivate var ciphers: String {
        switch self {
        case .modern: "kECDHE:kDHE:!aNULL:!eNULL"
        case .everything: "ALL:@SECLEVEL=0"
        }
    }
}
