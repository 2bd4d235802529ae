/// A server's TLS certificate and private key, both in PEM.
package struct TLSIdentity: Sendable {
    let certificate: String
    let key: String

    /// Pairs a certificate, with the chain that clients need, with its private key.
    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
