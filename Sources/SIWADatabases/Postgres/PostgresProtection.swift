internal import Glibc

/// How the connection to a PostgreSQL server is protected: by TLS, and by the proof that it is the
/// right server. A pure value.
///
/// libpq's own default, `sslmode=prefer`, sends passwords unencrypted to any server that claims not
/// to support TLS.
struct PostgresProtection: Equatable {
    /// The settings for libpq that replace its defaults.
    var mode: String?
    var rootCertificate: String?
    /// Why the connection is protected less than by siwa's default; nil if it is not.
    var weakness: String?

    /// - Parameters:
    ///   - settings: the settings that libpq would use.
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

/// The existing files of trusted certificates.
struct RootCertificates: Equatable {
    /// This user's file for PostgreSQL.
    var user: String?
    /// The system's bundle, which only libpq 16 and newer can find by itself.
    var system: String?

    /// Finds the files.
    static func find() -> Self {
        let system = [getenv("SSL_CERT_FILE").map { String(cString: $0) } ?? ""] + bundles
        return Self(
            user: home.map { $0 + "/.postgresql/root.crt" }.flatMap(existing),
            system: system.lazy.compactMap(existing).first)
    }

    /// The bundles of Debian, Red Hat, SUSE and Alpine.
    private static let bundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    private static func existing(_ path: String) -> String? {
        !path.isEmpty && access(path, R_OK) == 0 ? path : nil
    }
}

/// The home folder, found in the same way as libpq.
var home: String? {
    if let home = getenv("HOME").map({ String(cString: $0) }), !home.isEmpty { return home }
    return getpwuid(geteuid()).flatMap { $0.pointee.pw_dir.map { String(cString: $0) } }
}
