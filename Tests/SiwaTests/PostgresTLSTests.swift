import Foundation
import SIWACrypto
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// The connection to a vault on a server that is not this machine. Tests connect to 0.0.0.0, which
/// Linux takes to 127.0.0.1 and which is no loopback address.
@Suite(.blocking) struct PostgresTLSTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("vault.key", try VaultKeyRing.newLine(number: 1).revealed())
    }

    private func call(
        _ arguments: [String], _ url: String, _ environment: [String: String]
    ) -> Executable.Call {
        let settings = [
            "HOME": folder.path, "SIWA_VAULT_URL": url,
            "SIWA_VAULT_KEY_FILE": folder.path("vault.key"),
        ]
        return .init(arguments, environment: settings.merging(environment) { $1 })
    }

    private func siwa(
        _ arguments: String..., url: String, environment: [String: String] = [:]
    ) async throws -> ProgramResult {
        try await Executable.product("siwa").run(call(arguments, url, environment))
    }

    /// Lists the vault until the server, which never answers, has the password once more.
    private func sendPassword(
        _ arguments: String..., to server: RawServer, url: String,
        environment: [String: String] = [:]
    ) async throws -> ProgramResult {
        func count() -> Int { server.receivedText.components(separatedBy: Self.password).count }
        let before = count()
        let running = try Executable.product("siwa").start(
            call(["vault", "list", "--timeout", "1h"] + arguments, url, environment))
        try await eventually("the password arrives") {
            let errors = try running.errorsSoFar()
            let hasArrived = count() > before
            try #require(hasArrived || !running.hasEnded, "\(errors)")
            return hasArrived
        }
        running.signal(SIGTERM)
        return try await running.result()
    }

    private static let password = "r-hush-password"

    @Test func `a server without TLS does not receive the password`() async throws {
        try await RawServer.serving(Self.askingForPassword) { server in
            let url = "postgresql://siwa:\(Self.password)@0.0.0.0:\(server.port)/siwa"
            let result = try await siwa("vault", "list", url: url)
            #expect(result.exitCode == 3, "\(result)")
            #expect(result.hints.contains { $0.contains("sslrootcert=") }, "\(result)")
            #expect(result.hints.contains { $0.contains("sslmode=") }, "\(result)")
            #expect(!result.errors.contains(Self.password))
            // The request for TLS (PostgreSQL's documentation, "SSLRequest") and nothing else.
            #expect(server.received == [[0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F]])
        }
    }

    @Test func `a stated sslmode is followed with a warning, and refused if strict`() async throws {
        try await RawServer.serving(Self.askingForPassword) { server in
            let place = "siwa:\(Self.password)@0.0.0.0:\(server.port)/siwa"
            let url = "postgresql://\(place)"
            try folder.write(".pg_service.conf", "[ours]\nsslmode=prefer\n")
            let ways: [(url: String, environment: [String: String], place: String)] = [
                (url + "?sslmode=prefer", [:], "environment SIWA_VAULT_URL"),
                (url, ["PGSSLMODE": "prefer"], "environment PGSSLMODE"),
                (url + "?service=ours", [:], "PostgreSQL's service file"),
                (url, ["PGSERVICE": "ours", "PGSSLMODE": "allow"], "PostgreSQL's service file"),
            ]
            for way in ways {
                let strict = try await siwa(
                    "vault", "list", "--strict", url: way.url, environment: way.environment)
                #expect(strict.exitCode == 3, "\(way): \(strict)")
                #expect(strict.errors.contains("sslmode=prefer"), "\(strict)")
                #expect(strict.hints.first?.hasSuffix(": \(way.place)") == true, "\(strict)")
                let flag = try await siwa(
                    "vault", "list", "--strict", "--vault", way.url, url: "sqlite:none",
                    environment: way.environment)
                #expect(flag.exitCode == 3, "\(way): \(flag)")
                let place =
                    way.environment.isEmpty && way.url.contains("sslmode")
                    ? "flag --vault" : way.place
                #expect(flag.hints.first?.hasSuffix(": \(place)") == true, "\(flag)")
            }
            #expect(server.connectionCount == 0)
            // The user has chosen to send the password.
            for way in ways {
                let result = try await sendPassword(
                    to: server, url: way.url, environment: way.environment)
                #expect(result.errors.contains("siwa: warning:"), "\(way): \(result)")
                #expect(result.errors.contains("sslmode=prefer"), "\(way): \(result)")
                #expect(!result.errors.contains(Self.password))
            }
        }
    }

    @Test func `a server on this machine needs no TLS`() async throws {
        try await RawServer.serving(Self.askingForPassword) { server in
            for host in ["127.0.0.1", "localhost"] {
                let url = "postgresql://siwa:\(Self.password)@\(host):\(server.port)/siwa"
                let result = try await sendPassword("--strict", to: server, url: url)
                #expect(!result.errors.contains("warning"), "\(result)")
            }
        }
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"))
    func `a server with a valid certificate is trusted, however its authority is configured`()
        async throws
    {
        let authority = try Self.authority(for: .address("0.0.0.0"))
        let server = try await PostgresServer(TLSIdentity(authority, .address("0.0.0.0")))
        let root = try folder.write("ca.pem", try authority.certificate.pemRepresentation())
        for place in ["URL", "PGSSLROOTCERT", "SSL_CERT_FILE", ".postgresql/root.crt"] {
            var environment: [String: String] = [:]
            var url = try await emptyDatabase(on: server)
            switch place {
            case "URL": url += "?sslrootcert=\(root)"
            case ".postgresql/root.crt":
                mkdir(folder.path(".postgresql"), 0o700)
                try folder.write(place, try authority.certificate.pemRepresentation())
            default: environment[place] = root
            }
            let result = try await siwa(
                "vault", "init", "--strict", url: url, environment: environment)
            #expect(result.exitCode == 0, "\(place): \(result)")
            #expect(!result.errors.contains("warning"), "\(place): \(result)")
            #expect(
                try await server.run(
                    "SELECT count(*) FROM vault_key", on: server.url(Self.name(url))) == "1\n")
        }
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"))
    func `a server with an invalid certificate does not receive the password`() async throws {
        let authority = try Self.authority(for: .host("db.example.com"))
        let root = try folder.write("ca.pem", try authority.certificate.pemRepresentation())
        let stranger = try Self.authority(for: .address("0.0.0.0"))
        for identity in [
            try TLSIdentity(stranger, .address("0.0.0.0")),
            try TLSIdentity(authority, .host("db.example.com")),
        ] {
            let server = try await PostgresServer(identity)
            let url = try await emptyDatabase(on: server) + "?sslrootcert=\(root)"
            let result = try await siwa("vault", "init", url: url)
            #expect(result.exitCode == 3, "\(result)")
            #expect(result.errors.contains("certificate"), "\(result)")
            #expect(result.hints.contains { $0.contains("sslrootcert=") }, "\(result)")
            #expect(result.hints.contains { $0.contains("sslmode=") }, "\(result)")
            #expect(!result.errors.contains(Self.password))
            let log = try server.log()
            #expect(!log.contains("user=locked"), "\(log)")
        }
    }

    private static func authority(for name: ServerName) throws -> CertificateAuthority {
        let now = Int(Date().timeIntervalSince1970)
        return try CertificateAuthority(
            name: "Vault test", permitting: [name], validity: now - 60..<now + 3600)
    }

    /// Answers "no TLS", then asks for the password in plain text.
    private static let askingForPassword: [Step] = [
        .read(8), .write("N"), .read(9),
        .write([UInt8(ascii: "R"), 0, 0, 0, 8, 0, 0, 0, 3]), .hold,
    ]

    /// The URL of a database of a user who needs a password, by TCP.
    private func emptyDatabase(on server: PostgresServer) async throws -> String {
        let name = Self.name(try await server.database())
        _ = try? await server.run(
            "CREATE ROLE locked SUPERUSER LOGIN PASSWORD '\(Self.password)'",
            on: server.url("postgres"))
        return "postgresql://locked:\(Self.password)@0.0.0.0:\(server.port ?? 0)/\(name)"
    }

    private static func name(_ url: String) -> String {
        String(url.split(separator: "?").first?.split(separator: "/").last ?? "")
    }
}
