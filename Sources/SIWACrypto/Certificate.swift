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
    package convenience init(pemRepresentation text: [UInt8]) throws(OpenSSLError) {
        self.init(adopting: try Self.next(in: try Self.memory(text)))
    }

    /// Reads the certificates in PEM, up to the first text that is none.
    package static func chain(pemRepresentation text: [UInt8]) -> [Certificate] {
        var chain: [Certificate] = []
        guard let bio = try? memory(text) else { return [] }
        while let certificate = try? next(in: bio) {
            chain.append(Certificate(adopting: certificate))
        }
        return chain
    }

    private static func memory(_ text: [UInt8]) throws(OpenSSLError) -> Owned<MemoryBIO> {
        let bio = try Owned<MemoryBIO>(openssl.BIO_new(openssl.BIO_s_mem()))
        try check(
            openssl.BIO_write(bio.pointer, text, CInt(text.count)) == CInt(text.count) ? 1 : 0)
        return bio
    }

    private static func next(
        in bio: borrowing Owned<MemoryBIO>
    ) throws(OpenSSLError) -> Owned<X509Certificate> {
        // Without a callback, OpenSSL would ask for a passphrase on the terminal.
        try Owned<X509Certificate>(
            openssl.PEM_read_bio_X509(bio.pointer, nil, { _, _, _, _ in 0 }, nil))
    }

    deinit { openssl.X509_free(pointer) }

    /// From when until when it is valid, in seconds since 1970-01-01T00:00:00Z; nil if that is
    /// malformed.
    package var validity: Range<Int>? {
        guard let from = seconds(openssl.X509_get0_notBefore(pointer)),
            let to = seconds(openssl.X509_get0_notAfter(pointer)), from < to
        else { return nil }
        return from..<to
    }

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

/// A time of a certificate in seconds since the epoch; nil if it is malformed. OpenSSL compares it
/// with moments, so that the first one that is not before it is found by halving.
func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int? {
    func isOver(at seconds: Int) -> Bool {
        var moment = time_t(seconds)
        return openssl.X509_cmp_time(time, &moment) < 0
    }
    // RFC 5280 §4.1.2.5.2: at most 9999-12-31T23:59:59Z.
    var (before, over) = (-1, 253_402_300_799)
    guard isOver(at: over) else { return nil }
    while over - before > 1 {
        let middle = before + (over - before) / 2
        if isOver(at: middle) { over = middle } else { before = middle }
    }
    return over
}

enum X509Certificate: OpenSSLKind {
    static func free(_ pointer: OpaquePointer) { openssl.X509_free(pointer) }
}
