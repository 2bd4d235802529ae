import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// When siwa asks a PostgreSQL server for its identity.
@Suite(.blocking) struct PostgresProtectionTests {
    private let roots = RootCertificates(user: "/home/root.crt", system: "/etc/bundle")

    @Test(
        arguments: [
            (nil, nil), ("localhost", nil), ("LOCALHOST", nil), ("127.0.0.1", nil),
            ("127.9.9.9,::1", nil), ("/run/postgresql", nil), ("@abstract", nil), ("", nil),
            ("/tmp,localhost,", nil), ("db.example.com", "127.0.0.1"), ("a,b", "127.0.0.1,::1"),
            (nil, "::1"),
        ] as [(String?, String?)])
    func `a server on this machine needs no TLS`(_ host: String?, _ address: String?) {
        for mode in ["prefer", "disable", "verify-full"] {
            let settings = PostgresSettings(
                host: host, address: address, mode: mode, isModeStated: mode != "prefer")
            let protection = PostgresProtection(settings, roots)
            #expect(protection.mode == nil)
            #expect(protection.rootCertificate == nil)
            #expect(protection.weakness == nil)
        }
    }

    @Test(
        arguments: [
            ("db.example.com", nil), ("localhost,db.example.com", nil), ("10.0.0.1", nil),
            ("localhost", "10.0.0.1"), ("a,b", "127.0.0.1,10.0.0.1"), ("a,b", "127.0.0.1,"),
            ("127.1", nil), ("0.0.0.0", nil), ("::", nil), ("::ffff:127.0.0.1", nil),
            ("localhost.example.com", nil), ("128.0.0.1", nil), (nil, "192.0.2.1"),
            ("[::1]", nil), ("localhost ", nil),
        ] as [(String?, String?)])
    func `any other server must prove its identity`(_ host: String?, _ address: String?) {
        let settings = PostgresSettings(
            host: host, address: address, mode: "prefer", isModeStated: false)
        let protection = PostgresProtection(settings, roots)
        #expect(protection.mode == "verify-full")
        #expect(protection.rootCertificate == "/home/root.crt")
        #expect(protection.weakness == nil)
    }

    @Test func `certificates are read from the first place that has them`() {
        var settings = PostgresSettings(host: "db.example.com", mode: "prefer", isModeStated: false)
        let bundle = RootCertificates(system: "/etc/bundle")
        #expect(PostgresProtection(settings, bundle).rootCertificate == "/etc/bundle")
        #expect(PostgresProtection(settings, RootCertificates()).rootCertificate == nil)
        settings.rootCertificate = "/stated.pem"
        #expect(PostgresProtection(settings, roots).rootCertificate == nil)
        settings = PostgresSettings(host: "db.example.com", mode: "verify-full", isModeStated: true)
        #expect(PostgresProtection(settings, bundle).rootCertificate == "/etc/bundle")
        #expect(PostgresProtection(settings, bundle).mode == nil)
    }

    @Test(arguments: ["disable", "allow", "prefer", "require", "verify-ca"])
    func `a weaker sslmode applies if it is stated, and is named`(_ mode: String) {
        let settings = PostgresSettings(host: "db.example.com", mode: mode, isModeStated: true)
        let protection = PostgresProtection(settings, roots)
        #expect(protection.mode == nil && protection.rootCertificate == nil)
        #expect(protection.weakness?.contains("sslmode=\(mode) ") == true)
    }

    @Test func `a service file states a mode only for its own services`() {
        let text = "# c\nsslmode=a\n[one]\nhost=h\n[two]\n  sslmode=require\n[three]\nsslmodes=x\n"
        #expect(ServiceFile.states("sslmode", in: "two", text))
        #expect(!ServiceFile.states("sslmode", in: "one", text))
        #expect(!ServiceFile.states("sslmode", in: "three", text))
        #expect(!ServiceFile.states("sslmode", in: "four", text))
        #expect(!ServiceFile.states("sslmode", in: "two", ""))
    }

    @Test(arguments: [
        (10_000, 9500), (1000, 500), (600, 300), (1, 1), (0, 1), (-5, 1),
    ])
    func `the server's lock timeout ends before siwa's time limit`(
        _ timeout: Int, _ lockTimeout: Int
    ) {
        #expect(PostgresDatabase.lockTimeout(.milliseconds(timeout)) == lockTimeout)
    }
}
