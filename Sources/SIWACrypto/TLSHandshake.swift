internal import COpenSSL
internal import Glibc

/// What the handshake with a TLS server shows (RFC 8446, RFC 5246).
package struct TLSHandshake: Hashable, Sendable {
    /// OpenSSL's name of the protocol, such as `TLSv1.3`.
    package let version: String
    /// OpenSSL's name of the cipher suite.
    package let cipher: String
    /// Whether the keys of the connection are agreed for it alone, so that the server's private key
    /// does not decrypt what was recorded.
    package let hasForwardSecrecy: Bool
    /// How many certificates the server sent.
    package let certificateCount: Int
    /// The issuers whose certificates the server must send, and does not.
    package let missingIssuers: [String]
    /// Why the certificate is not valid for the host, in OpenSSL's words; nil if it is.
    package let certificateFault: String?

    /// Reads a session of OpenSSL, and verifies the certificates that the server sent.
    ///
    /// - Parameters:
    ///   - session: an `SSL *` of a client whose handshake is complete.
    ///   - host: the name or the address that the certificate must have.
    ///   - folder: authorities to trust, by hashed links.
    ///   - file: authorities to trust, in PEM.
    package init(
        reading session: UnsafeMutableRawPointer, with host: String, trusting folder: String?,
        _ file: String?
    ) throws(OpenSSLError) {
        let library = try OpenSSLTLS.library.get()
        let session = OpaquePointer(session)
        guard let suite = library.SSL_get_current_cipher(session),
            let sent = library.SSL_get_peer_cert_chain(session),
            let own = openssl.OPENSSL_sk_value(sent, 0)
        else { throw OpenSSLError(reasons: ["the server sent no certificate"]) }
        version = text(library.SSL_get_version(session))
        cipher = text(library.SSL_CIPHER_get_name(suite))
        // TLS 1.3 has no other key exchange, and names none.
        hasForwardSecrecy = [NID_kx_ecdhe, NID_kx_dhe, NID_kx_any]
            .contains(library.SSL_CIPHER_get_kx_nid(suite))
        certificateCount = Int(openssl.OPENSSL_sk_num(sent))
        let chain = try ExaminedChain(
            OpaquePointer(own), sent: sent, host: host, trusting: folder, file)
        (missingIssuers, certificateFault) = (chain.missingIssuers, chain.fault)
    }
}

/// What a client offers a TLS server.
package enum TLSOffer: Sendable {
    /// TLS 1.2 and newer, with forward secrecy only: what Apple asks of servers.
    case modern
    /// All that OpenSSL can do, to name what an outdated server does.
    case everything
}

/// OpenSSL's libssl, loaded when it is first used.
private enum OpenSSLTLS {
    static let library = Result { () throws(OpenSSLError) in
        try OpenSSL.load()
        var functions = siwa_openssl_tls()
        guard siwa_openssl_tls_load(&functions) else {
            let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
            throw OpenSSLError(reasons: ["libssl cannot be loaded: \(reason)"])
        }
        return functions
    }
}

/// The certificates of a server, verified with nothing but what it sent and the trusted authorities.
private struct ExaminedChain {
    let missingIssuers: [String]
    let fault: String?

    init(
        _ own: OpaquePointer, sent: OpaquePointer, host: String, trusting folder: String?,
        _ file: String?
    ) throws(OpenSSLError) {
        let store = try Owned<TrustStore>(openssl.X509_STORE_new())
        // A file or a folder that cannot be read trusts nothing, which the verification reports.
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

    /// The certificates of a verified chain that only this machine had: other clients have the
    /// roots, which issued themselves, and nothing else.
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

/// The common name in a name of a certificate, or all of it on one line.
private func commonName(_ name: OpaquePointer?) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        let size = CInt(buffer.count)
        if openssl.X509_NAME_get_text_by_NID(name, NID_commonName, buffer.baseAddress, size) <= 0 {
            _ = openssl.X509_NAME_oneline(name, buffer.baseAddress, size)
        }
        return text(buffer.baseAddress)
    }
}

/// A text of OpenSSL's; empty if absent.
private func text(_ pointer: UnsafePointer<CChar>?) -> String {
    pointer.map { String(cString: $0) } ?? ""
}

private enum TrustStore: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.X509_STORE_free(pointer) }
}

private enum VerificationContext: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.X509_STORE_CTX_free(pointer) }
}
