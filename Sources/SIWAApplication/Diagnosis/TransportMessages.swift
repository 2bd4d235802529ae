internal import SIWALifecycle

extension TransportError.Kind {
    /// The code with which an error line begins.
    var code: ErrorCode {
        switch self {
        case .nameLookup: .nameLookup
        case .connect: .connect
        case .tls: .tls
        case .certificate: .certificate
        case .proxy: .proxy
        case .timeout: .timeout
        case .cut: .cut
        case .tooLarge: .tooLarge
        case .malformed: .malformed
        case .cancelled: .cancelled
        case .authorities: .authorities
        case .resources: .resources
        case .unavailable: .unavailable
        }
    }

    /// What happened.
    package var words: String {
        switch self {
        case .nameLookup: "the host name cannot be resolved"
        case .connect: "no connection"
        case .tls: "the TLS handshake failed"
        case .certificate: "the server's certificate is not trusted"
        case .proxy: "the proxy cannot be used"
        case .timeout: "timed out"
        case .cut: "the connection was closed before the response was complete"
        case .tooLarge: "the response is too large"
        case .malformed: "the response is not HTTP"
        case .cancelled: "cancelled"
        case .authorities: "the certificate authorities cannot be read"
        case .resources: "the system has too few resources for a request"
        case .unavailable: "libcurl cannot be used"
        }
    }

    /// What to do about it.
    var hint: String {
        switch self {
        case .nameLookup: "check the network and its DNS, then try again"
        case .connect:
            "check the network and its firewall, or whether the emulator runs; then try again"
        case .tls:
            """
            check that the port of base_url speaks https, not http; if it does, check for a proxy \
            that does not support TLS 1.2
            """
        case .certificate:
            """
            add the authority of a proxy that inspects TLS, or the emulator's ca.pem, with \
            --ca-file; check the clock: a wrong clock makes valid certificates look expired
            """
        case .proxy: "check HTTPS_PROXY and NO_PROXY"
        case .timeout: "try again, with a longer --timeout if the network is slow"
        case .cut, .malformed: "try again; if this continues, check for a proxy"
        case .tooLarge: "check for a proxy or a captive portal, and check base_url"
        case .cancelled: "run it again"
        case .authorities:
            """
            check --ca-file, SSL_CERT_FILE, SSL_CERT_DIR and CURL_CA_BUNDLE: \
            each names certificates in PEM
            """
        case .resources: "raise the limit, or wait until other processes have ended"
        case .unavailable: "install libcurl 7.87 or newer: apt-get install libcurl4"
        }
    }
}
