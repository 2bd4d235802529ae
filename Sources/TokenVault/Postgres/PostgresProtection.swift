internal import Glibc

/// How the connection to a PostgreSQL server is protected: by TLS, and by the proof that it is the
/// right server. A pure value.
///
/// libpq's own default, `sslmode=prefer`, sends passwords in plain text to any server that says
/// that it has no TLS.
struct PostgresProtection: Equatable {
    /// What libpq is to use in place of its defaults.
    var mode: String?
    var rootCertificate: String?
    /// Why the connection is protected less than by siwa's default; nil when it is not.
    var weakness: String?

    /// - Parameters:
    ///   - settings: what libpq would use.
    ///   - roots: the files of trusted certificates.
    init(_ settings: PostgresSettings, _ roots: RootCertificates) {
        guard !settings.isLocal else { return }
        if !settings.isModeStated { mode = Self.strongest }
        let used = mode ?? settings.mode ?? ""
        if used == Self.strongest, settings.rootCertificate == nil {
            rootCertificate = roots.user ?? roots.system
        }
        if used != Self.strongest {
            weakness = """
                sslmode=\(used) does not verify which PostgreSQL server answers: an attacker who can \
                redirect the connection sees what is sent
                """
        }
    }

    private static let strongest = "verify-full"
}

/// Where certificates to trust are, as far as the files exist.
struct RootCertificates: Equatable {
    /// Of this user, for PostgreSQL.
    var user: String?
    /// The system's bundle; libpq has had a name for it since version 16 only.
    var system: String?

    /// Looks for them.
    static func find() -> Self {
        let system = [getenv("SSL_CERT_FILE").map { String(cString: $0) } ?? ""] + bundles
        return Self(
            user: home.map { $0 + "/.postgresql/root.crt" }.flatMap(existing),
            system: system.lazy.compactMap(existing).first)
    }

    /// Of Debian, Red Hat, SUSE and Alpine.
    private static let bundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    private static func existing(_ path: String) -> String? {
        !path.isEmpty && access(path, R_OK) == 0 ? path : nil
    }
}

/// The home folder, as libpq finds it.
var home: String? {
    if let home = getenv("HOME").map({ String(cString: $0) }), !home.isEmpty { return home }
    return getpwuid(geteuid()).flatMap { $0.pointee.pw_dir.map { String(cString: $0) } }
}
