internal import Glibc
internal import SIWACOpenSSL

/// The result of a handshake with a TLS server (RFC 8446, RFC 5246).
package struct TLSHandshake: Hashable, Sendable {
    /// OpenSSL's name for the protocol, such as `TLSv1.3`.
    package let version: String
    /// OpenSSL's name for the cipher suite.
    package let cipher: String
    /// Whether the connection has forward secrecy: the server's private key cannot decrypt a
    /// recording of it.
    package let hasForwardSecrecy: Bool
    /// The number of certificates that the server sent.
    package let certificateCount: Int
    /// The issuers whose certificates the server should send but does not.
    package let missingIssuers: [String]
    /// Why the certificate is invalid for the host, in OpenSSL's words; nil if it is valid.
    package let certificateFault: String?
    /// When the server's own certificate expires, in seconds since 1970-01-01T00:00:00Z; nil if it
    /// does not say so.
    package let certificateExpiry: Int?

    /// Reads a session of OpenSSL, and verifies the certificates that the server sent.
    ///
    /// - Parameters:
    ///   - session: an `SSL *` of a client whose handshake is complete.
    ///   - host: the name or the address that the certificate must have.
    ///   - folder: a folder of trusted authorities with hashed links.
    ///   - file: a file of trusted authorities in PEM.
    package init(
        reading session: UnsafeMutableRawPointer, with host: String, trusting folder: String?,
        _ file: String?
    ) throws(OpenSSLError) {
        let library = try OpenSSLTLS.library.get().functions.pointee
        let session = OpaquePointer(session)
        guard let suite = library.SSL_get_current_cipher(session),
            let sent = library.SSL_get_peer_cert_chain(session),
            let own = openssl.OPENSSL_sk_value(sent, 0)
        else { throw OpenSSLError(reasons: ["the server sent no certificate"]) }
        version = text(library.SSL_get_version(session))
        cipher = text(library.SSL_CIPHER_get_name(suite))
        // TLS 1.3 always has forward secrecy, and reports no key exchange.
        hasForwardSecrecy = [NID_kx_ecdhe, NID_kx_dhe, NID_kx_any]
            .contains(library.SSL_CIPHER_get_kx_nid(suite))
        certificateCount = Int(openssl.OPENSSL_sk_num(sent))
        let chain = try ExaminedChain(
            OpaquePointer(own), sent: sent, host: host, trusting: folder, file)
        (missingIssuers, certificateFault) = (chain.missingIssuers, chain.fault)
        certificateExpiry = seconds(openssl.X509_get0_notAfter(OpaquePointer(own)))
    }
}

/// The protocols and ciphers that a client offers.
package enum TLSOffer: Sendable {
    /// TLS 1.2 and newer with forward secrecy, as Apple requires of servers.
    case modern
    /// Everything that OpenSSL supports, to name the protocol of an outdated server.
    case everything
}

/// OpenSSL's libssl, loaded when it is first used.
private enum OpenSSLTLS {
    static let library = Result { () throws(OpenSSLError) in
        try OpenSSL.load()
        var isLoaded = false
        let library = siwa_openssl_tls_load(&isLoaded)
        guard isLoaded else {
            let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
            throw OpenSSLError(reasons: ["libssl cannot be loaded: \(reason)"])
        }
        return library
    }
}

/// The certificates of a server, verified only with those that it sent and the trusted authorities.
private struct ExaminedChain {
    let missingIssuers: [String]
    let fault: String?

    init(
        _ own: OpaquePointer, sent: OpaquePointer, host: String, trusting folder: String?,
        _ file: String?
    ) throws(OpenSSLError) {
        let store = try Owned<TrustStore>(openssl.X509_STORE_new())
        // An unreadable file or folder is ignored here; the verification then fails.
        if let file { _ = holds(openssl.X509_STORE_load_file(store.pointer, file)) }
        if let folder { _ = holds(openssl.X509_STORE_load_path(store.pointer, folder)) }
        let context = try Owned<VerificationContext>(openssl.X509_STORE_CTX_new())
        try check(openssl.X509_STORE_CTX_init(context.pointer, store.pointer, own, sent))
        try check(openssl.X509_STORE_CTX_set_default(context.pointer, "ssl_server"))
        let parameters = openssl.X509_STORE_CTX_get0_param(context.pointer)
        if !holds(openssl.X509_VERIFY_PARAM_set1_ip_asc(parameters, host)) {
            try check(openssl.X509_VERIFY_PARAM_set1_host(parameters, host, host.utf8.count))
        }
        let isValid = holds(openssl.X509_verify_cert(context.pointer))
        let error = openssl.X509_STORE_CTX_get_error(context.pointer)
        fault = isValid ? nil : text(openssl.X509_verify_cert_error_string(Int(error)))
        if isValid {
            missingIssuers = Self.unsent(
                openssl.X509_STORE_CTX_get0_chain(context.pointer), sent: sent)
        } else if Self.issuerNotFound.contains(error) {
            missingIssuers =
                openssl.X509_STORE_CTX_get_current_cert(context.pointer)
                .map { [commonName(openssl.X509_get_issuer_name($0))] } ?? []
        } else {
            missingIssuers = []
        }
    }

    private static let issuerNotFound = [
        X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
        X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
    ]

    /// The intermediate certificates of a verified chain that the server did not send: other
    /// clients have only the self-signed roots.
    private static func unsent(_ chain: OpaquePointer?, sent: OpaquePointer) -> [String] {
        let names = certificates(sent).map { openssl.X509_get_subject_name($0) }
        return certificates(chain).filter { certificate in
            let name = openssl.X509_get_subject_name(certificate)
            return !holds(openssl.X509_self_signed(certificate, 0))
                && !names.contains { openssl.X509_NAME_cmp($0, name) == 0 }
        }.map { commonName(openssl.X509_get_subject_name($0)) }
    }

    private static func certificates(_ stack: OpaquePointer?) -> [OpaquePointer] {
        (0..<max(openssl.OPENSSL_sk_num(stack), 0)).compactMap {
            openssl.OPENSSL_sk_value(stack, $0).map { OpaquePointer($0) }
        }
    }
}

/// The common name in a name of a certificate, or the whole name on one line.
private func commonName(_ name: OpaquePointer?) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        let size = CInt(buffer.count)
        if openssl.X509_NAME_get_text_by_NID(name, NID_commonName, buffer.baseAddress, size) <= 0 {
            _ = openssl.X509_NAME_oneline(name, buffer.baseAddress, size)
        }
        return text(buffer.baseAddress)
    }
}

/// A text from OpenSSL; empty if null.
private func text(_ pointer: UnsafePointer<CChar>?) -> String {
    pointer.map { String(cString: $0) } ?? ""
}

private enum TrustStore: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.X509_STORE_free(pointer) }
}

private enum VerificationContext: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.X509_STORE_CTX_free(pointer) }
}
