internal import SIWACrypto
internal import SIWAHTTPServer
internal import SIWASystem

/// The certificate of an emulator, and the authority that its clients must trust.
struct TLSFiles {
    static let authority = "ca.pem"
    static let certificate = "server.pem"
    static let key = "server-key.pem"
    static let names = [authority, certificate, key]

    static let serverNames: [ServerName] = [
        .host("appleid.apple.com"), .host("account.apple.com"), .host("localhost"),
        .address("127.0.0.1"), .address("::1"),
    ]
    private static let day = 86_400

    let folder: Folder

    /// Whether all files exist and are valid for another week.
    func isGood(now: Int) throws(FileError) -> Bool {
        for name in Self.names where !fileExists(folder.path(name)) { return false }
        for name in [Self.authority, Self.certificate] {
            let read = try folder.read(name)
            guard let certificate = try? Certificate(pemRepresentation: read),
                certificate.isValid(atSecondsSinceEpoch: now),
                certificate.isValid(atSecondsSinceEpoch: now + 7 * Self.day)
            else { return false }
        }
        return true
    }

    /// Creates an authority and a certificate for a year. The authority's key is never written to
    /// disk, so that a reader of the folder cannot issue certificates.
    func renew(now: Int) throws {
        let validity = now - 3600..<now + 365 * Self.day
        let authority = try CertificateAuthority(
            name: "siwa-emulator", permitting: Self.serverNames, validity: validity)
        let key = try P256PrivateKey.generate()
        let certificate = try authority.issueServerCertificate(names: Self.serverNames, key: key)
        try folder.write(try key.pemRepresentation().revealed(), Self.key, isSecret: true)
        try folder.write(try certificate.pemRepresentation(), Self.certificate)
        try folder.write(try authority.certificate.pemRepresentation(), Self.authority)
    }

    /// The certificate and key of the server.
    func identity() throws(FileError) -> TLSIdentity {
        TLSIdentity(
            certificate: String(decoding: try folder.read(Self.certificate), as: UTF8.self),
            key: String(decoding: try folder.read(Self.key), as: UTF8.self))
    }
}
