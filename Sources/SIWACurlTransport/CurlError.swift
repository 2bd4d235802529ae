internal import Glibc
internal import SIWACCurl
internal import SIWALifecycle

extension TransportError.Kind {
    /// The kind of error for a result code of libcurl.
    init(_ code: CURLcode) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: self = .nameLookup
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: self = .proxy
        case CURLE_COULDNT_CONNECT: self = .connect
        case CURLE_SSL_CONNECT_ERROR: self = .tls
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: self = .certificate
        case CURLE_OPERATION_TIMEDOUT: self = .timeout
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE,
            CURLE_SEND_FAIL_REWIND:
            self = .cut
        case CURLE_FILESIZE_EXCEEDED: self = .tooLarge
        case CURLE_ABORTED_BY_CALLBACK: self = .cancelled
        case CURLE_SSL_CACERT_BADFILE: self = isOutOfDescriptors ? .resources : .authorities
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT, CURLE_NOT_BUILT_IN: self = .unavailable
        default: self = .malformed
        }
    }
}

/// Whether the process can open no file now: libcurl does not say why it cannot.
private var isOutOfDescriptors: Bool {
    let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { return errno == EMFILE }
    close(descriptor)
    return false
}
