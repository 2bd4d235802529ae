internal import SIWACOpenSSL

/// A certificate before it is signed.
struct CertificateDraft {
    private let certificate: Certificate
    private let issuer: Certificate

    /// A version 3 certificate of `key`, signed later by `issuer`, or by itself.
    init(
        name: String, key: P256PrivateKey, validity: Range<Int>, issuer: Certificate? = nil
    ) throws(OpenSSLError) {
        certificate = Certificate(adopting: try Owned<X509Certificate>(openssl.X509_new()))
        self.issuer = issuer ?? certificate
        let pointer = certificate.pointer
        // Version 3 is encoded as 2.
        try check(openssl.X509_set_version(pointer, 2))
        try check(siwa_set_validity(libcrypto, pointer, validity.lowerBound, validity.upperBound))
        try key.withPointer { key throws(OpenSSLError) in
            try check(openssl.X509_set_pubkey(pointer, key))
        }
        try setSerialNumber()
        try setNames(subject: name)
    }

    /// Adds an extension in OpenSSL's notation.
    func add(_ kind: CInt, _ value: String) throws(OpenSSLError) {
        try check(siwa_add_extension(libcrypto, certificate.pointer, issuer.pointer, kind, value))
    }

    /// Signs with SHA-256; X509_sign returns the signature's length.
    func signed(by key: P256PrivateKey) throws(OpenSSLError) -> Certificate {
        try key.withPointer { key throws(OpenSSLError) in
            try check(openssl.X509_sign(certificate.pointer, key, openssl.EVP_sha256()) > 0 ? 1 : 0)
        }
        return certificate
    }

    /// 16 random bytes, positive and without a leading zero (RFC 5280 §4.1.2.2).
    private func setSerialNumber() throws(OpenSSLError) {
        var bytes = try Random.bytes(16)
        bytes[0] = bytes[0] & 0x7F | 0x40
        let number = try Owned<BigNumber>(openssl.BN_bin2bn(bytes, CInt(bytes.count), nil))
        let serial = openssl.X509_get_serialNumber(certificate.pointer)
        try check(openssl.BN_to_ASN1_INTEGER(number.pointer, serial) == nil ? 0 : 1)
    }

    private func setNames(subject: String) throws(OpenSSLError) {
        let name = openssl.X509_get_subject_name(certificate.pointer)
        let text = Array(subject.utf8)
        try check(
            openssl.X509_NAME_add_entry_by_NID(
                name, NID_commonName, MBSTRING_UTF8, text, CInt(text.count), -1, 0))
        try check(
            openssl.X509_set_issuer_name(
                certificate.pointer, openssl.X509_get_subject_name(issuer.pointer)))
    }
}
