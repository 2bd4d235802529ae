internal import SIWACOpenSSL

/// An X.509 certificate (RFC 5280); the emulator creates its own for TLS.
package final class Certificate: Sendable {
    /// Written before this object is shared; read-only afterwards.
    nonisolated(unsafe) let pointer: OpaquePointer

    init(adopting certificate: consuming Owned<X509Certificate>) {
        pointer = certificate.release()
    }

    /// Reads the first certificate in PEM (RFC 7468).
    ///
    /// - Throws: ``OpenSSLError`` if the text contains no certificate.
    package init(pemRepresentation text: [UInt8]) throws(OpenSSLError) {
        let bio = try Owned<MemoryBIO>(openssl.BIO_new(openssl.BIO_s_mem()))
        try check(
            openssl.BIO_write(bio.pointer, text, CInt(text.count)) == CInt(text.count) ? 1 : 0)
        // Without a callback, OpenSSL would ask for a passphrase on the terminal.
        pointer = try Owned<X509Certificate>(
            openssl.PEM_read_bio_X509(bio.pointer, nil, { _, _, _, _ in 0 }, nil)
        ).release()
    }

    deinit { openssl.X509_free(pointer) }

    /// The certificate in PEM (RFC 7468).
    package func pemRepresentation() throws(OpenSSLError) -> [UInt8] {
        try pem { openssl.PEM_write_bio_X509($0, pointer) }.revealed()
    }

    /// Whether it is valid `seconds` after 1970-01-01T00:00:00Z.
    package func isValid(atSecondsSinceEpoch seconds: Int) -> Bool {
        var moment = time_t(seconds)
        return openssl.X509_cmp_time(openssl.X509_get0_notAfter(pointer), &moment) > 0
            && openssl.X509_cmp_time(openssl.X509_get0_notBefore(pointer), &moment) < 0
    }
}

enum X509Certificate: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.X509_free(pointer) }
}
