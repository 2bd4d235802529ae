internal import SIWACOpenSSL

/// A certificate authority whose key exists only in this object, so that no certificate can be
/// issued with it later.
package final class CertificateAuthority: Sendable {
    /// The certificate that clients must trust.
    package let certificate: Certificate
    private let key: P256PrivateKey
    private let validity: Range<Int>

    /// Creates an authority with a name, valid during `validity` in seconds since the epoch.
    ///
    /// - Parameter names: The only servers that clients accept a certificate of this authority for
    ///   (critical name constraints, RFC 5280 §4.2.1.10).
    package init(
        name: String, permitting names: [ServerName], validity: Range<Int>
    ) throws(OpenSSLError) {
        let key = try P256PrivateKey.generate()
        let draft = try CertificateDraft(name: name, key: key, validity: validity)
        try draft.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
        let permitted = names.map { "permitted;\($0.nameConstraint)" }
        try draft.add(NID_name_constraints, "critical,\(permitted.joined(separator: ","))")
        try draft.add(NID_key_usage, "critical,keyCertSign,cRLSign")
        try draft.add(NID_subject_key_identifier, "hash")
        certificate = try draft.signed(by: key)
        self.key = key
        self.validity = validity
    }

    /// Issues a TLS server's certificate with the validity of the authority.
    ///
    /// - Parameter names: the names of the server; the first one is the subject.
    package func issueServerCertificate(
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

/// A name of a server.
package enum ServerName: Hashable, Sendable {
    /// A DNS name.
    case host(String)
    /// An IPv4 or IPv6 address.
    case address(String)

    fileprivate var text: String {
        switch self {
        case .host(let text), .address(let text): text
        }
    }

    /// The name as a permitted subtree. An address has a mask for itself only.
    fileprivate var nameConstraint: String {
        switch self {
        case .host: subjectAlternativeName
        case .address(let text) where text.contains(":"):
            subjectAlternativeName + "/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
        case .address: subjectAlternativeName + "/255.255.255.255"
        }
    }

    fileprivate var subjectAlternativeName: String {
        switch self {
        case .host(let text): "DNS:\(text)"
        case .address(let text): "IP:\(text)"
        }
    }
}
