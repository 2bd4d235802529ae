internal import COpenSSL

/// A certificate authority of one's own, for as long as this object lives: its key is
/// never written down, so that nobody can issue anything with it afterwards.
public final class CertificateAuthority: Sendable {
    /// What clients are told to trust.
    public let certificate: Certificate
    private let key: P256PrivateKey
    private let validity: Range<Int>

    /// A new authority called `name`, good for `validity` in seconds since the epoch.
    public init(name: String, validity: Range<Int>) throws(OpenSSLError) {
        let key = try P256PrivateKey.generate()
        let draft = try CertificateDraft(name: name, key: key, validity: validity)
        try draft.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
        try draft.add(NID_key_usage, "critical,keyCertSign,cRLSign")
        try draft.add(NID_subject_key_identifier, "hash")
        certificate = try draft.signed(by: key)
        self.key = key
        self.validity = validity
    }

    /// A TLS server's certificate, as long-lived as the authority.
    ///
    /// - Parameter names: What the server is called; the first one names it.
    public func issueServerCertificate(
        names: [ServerName], key serverKey: P256PrivateKey
    ) throws(OpenSSLError) -> Certificate {
        let draft = try CertificateDraft(
            name: names.first?.text ?? "server", key: serverKey, validity: validity,
            issuer: certificate)
        let alternatives = names.map(\.subjectAlternativeName).joined(separator: ",")
        try draft.add(NID_subject_alt_name, alternatives)
        try draft.add(NID_basic_constraints, "critical,CA:FALSE")
        try draft.add(NID_key_usage, "critical,digitalSignature")
        try draft.add(NID_ext_key_usage, "serverAuth")
        try draft.add(NID_subject_key_identifier, "hash")
        try draft.add(NID_authority_key_identifier, "keyid:always")
        return try draft.signed(by: key)
    }
}

/// What a client may call a server.
public enum ServerName: Hashable, Sendable {
    /// A DNS name.
    case host(String)
    /// An IPv4 or IPv6 address.
    case address(String)

    fileprivate var text: String {
        switch self {
        case .host(let text), .address(let text): text
        }
    }

    fileprivate var subjectAlternativeName: String {
        switch self {
        case .host(let text): "DNS:\(text)"
        case .address(let text): "IP:\(text)"
        }
    }
}
