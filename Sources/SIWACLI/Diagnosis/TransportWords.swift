internal import SignInWithApple

extension TransportError.Kind {
    /// The word an error line begins with.
    var code: String {
        switch self {
        case .nameLookup: "name_lookup"
        case .tooLarge: "too_large"
        case .connect, .tls, .certificate, .proxy, .timeout, .cut, .malformed, .cancelled,
            .authorities, .resources, .unavailable:
            rawValue
        }
    }

    /// What happened.
    var words: String {
        switch self {
        case .nameLookup: "the host name cannot be resolved"
        case .connect: "no connection"
        case .tls: "the TLS handshake failed"
        case .certificate: "the server's certificate is not to be trusted"
        case .proxy: "the proxy cannot be used"
        case .timeout: "time ran out"
        case .cut: "the connection ended before the answer did"
        case .tooLarge: "the answer is larger than any of Apple's"
        case .malformed: "the answer is not HTTP"
        case .cancelled: "given up"
        case .authorities: "the authorities to trust cannot be read"
        case .resources: "the system refuses what a request needs"
        case .unavailable: "libcurl cannot be used"
        }
    }

    /// What to do about it.
    var hint: String {
        switch self {
        case .nameLookup: "check the network and its DNS, then try again"
        case .connect:
            "check the network and its firewall, or whether the emulator runs; then try again"
        case .tls: "check for a proxy that breaks TLS 1.2 and newer, then try again"
        case .certificate:
            """
            a proxy that inspects TLS needs its authority in --ca-file, an emulator the ca.pem of \
            its folder; \
            a clock far off makes good certificates look expired
            """
        case .proxy: "check HTTPS_PROXY and NO_PROXY"
        case .timeout: "try again, with a longer --timeout if the network is slow"
        case .cut, .malformed: "try again; if it stays so, look for a proxy in between"
        case .tooLarge: "look for a proxy or a captive portal, and at base_url"
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
