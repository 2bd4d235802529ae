import Foundation
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// `siwa doctor --endpoint` against real TLS servers.
@Suite(.blocking, .enabled(if: TLSServer.isAvailable, "needs the openssl command"))
struct EndpointTests {
    @Test func `siwa-server with a complete chain passes, including a signed notification`()
        async throws
    {
        let (fixture, chain) = try await Self.fixture()
        let server = try await Self.serve(fixture, chain.full, chain.key)
        let url = "https://localhost:\(try server.port("notifications"))/apple/notifications"
        let result = try await fixture.apple.siwa(
            "doctor", "--endpoint", url, "--emulator", fixture.apple.url, "--json", "--ca-file",
            chain.trusting("root.pem", fixture.apple.folder.path("apple/ca.pem")))
        #expect(result.exitCode == 0, "\(result)")
        let lines = try result.checks
        #expect(lines["endpoint_url"]?["status"] == "warning")
        #expect(lines["tls"]?["seen"]?.string?.hasPrefix("TLS 1.3 with TLS_AES_") == true)
        let certificate = lines["certificate"]?["seen"]?.string ?? ""
        #expect(certificate.hasPrefix("the server sends 2 certificates: complete chain"))
        #expect(certificate.contains("expires at 20") && Self.isLeft(90, in: certificate))
        #expect(lines["certificate"]?["status"] == "ok")
        #expect(lines["forged_notification"]?["seen"] == "refused with 401")
        #expect(lines["signed_notification"]?["seen"] == "accepted with 200")
        for name in ["dns", "connection", "redirect", "response_time"] {
            #expect(lines[name]?["status"] == "ok", "\(name): \(result)")
        }
        #expect(try result.json["verdict"] == "passed")
        // Apple does not have these authorities.
        let conclusion = try result.json["cause"]?["seen"]?.string ?? ""
        #expect(conclusion.hasPrefix("a machine that trusts /"), "\(conclusion)")
        #expect(conclusion.hasSuffix("trusted.pem can post to this endpoint"), "\(conclusion)")
        #expect(try await fixture.inbox().map { $0["type"]?.string } == ["email-disabled"])
    }

    /// The store of this machine has the intermediate certificate, as a browser may; Apple has not.
    @Test(arguments: [false, true])
    func `a certificate without its chain is reported`(_ isKnownHere: Bool) async throws {
        let (fixture, chain) = try await Self.fixture()
        let server = try await Self.serve(fixture, chain.leaf, chain.key)
        let url = "https://localhost:\(try server.port("notifications"))/apple/notifications"
        let trusted = try chain.trusting(
            isKnownHere ? ["root.pem", "intermediate.pem"] : ["root.pem"])
        let result = try await fixture.apple.siwa(
            "doctor", "--endpoint", url, "--json", "--ca-file", trusted)
        #expect(result.exitCode == 1, "\(result)")
        let lines = try result.checks
        #expect(lines["certificate"]?["status"] == "failed", "\(result)")
        let seen = lines["certificate"]?["seen"]?.string ?? ""
        #expect(seen.contains("1 certificate") && seen.contains("'Test Intermediate'"), "\(seen)")
        #expect(lines["tls"]?["status"] == "ok")
        #expect(
            lines["forged_notification"]?["seen"]
                == (isKnownHere ? "refused with 401" : "not reached"))
        #expect(try result.json["cause"]?["advice"]?.string?.contains("fullchain.pem") == true)
    }

    @Test func `a certificate that expires within 14 days is a warning`() async throws {
        for (days, status) in [(13, "warning"), (15, "ok")] {
            let (fixture, chain) = try await Self.fixture(days: days)
            let server = try await Self.serve(fixture, chain.full, chain.key)
            let url = "https://localhost:\(try server.port("notifications"))/apple/notifications"
            let result = try await fixture.apple.siwa(
                "doctor", "--endpoint", url, "--json", "--ca-file", chain.trusting("root.pem"))
            #expect(result.exitCode == 0, "\(result)")
            let line = try result.checks["certificate"]
            #expect(line?["status"]?.string == status, "\(result)")
            #expect(Self.isLeft(days, in: line?["seen"]?.string ?? ""), "\(result)")
            #expect((line?["advice"] != nil) == (status == "warning"), "\(result)")
        }
    }

    @Test func `an expired certificate is reported with its date`() async throws {
        let authority = try CertificateAuthority(
            name: "Old", permitting: [.host("localhost")], validity: 1_600_000_000..<1_700_000_000)
        try await TLSServer.serving(TLSIdentity(authority, .host("localhost")), []) { server in
            let result = try await Self.doctor(server, trusting: authority.certificate)
            let seen = try result.checks["certificate"]?["seen"]?.string ?? ""
            #expect(
                seen.hasPrefix(
                    "not valid for localhost: certificate has expired; it expired at "
                        + "2023-11-14T22:13:20Z, "), "\(result)")
            #expect(result.exitCode == 1)
        }
    }

    @Test func `a certificate for another name is reported`() async throws {
        let (fixture, chain) = try await Self.fixture()
        let server = try await Self.serve(fixture, chain.full, chain.key)
        let url = "https://127.0.0.1:\(try server.port("notifications"))/"
        let result = try await fixture.apple.siwa(
            "doctor", "--endpoint", url, "--json", "--ca-file", chain.trusting("root.pem"))
        let seen = try result.checks["certificate"]?["seen"]
        #expect(seen == "not valid for 127.0.0.1: IP address mismatch", "\(result)")
    }

    @Test func `a server that supports only TLS 1.1 is reported`() async throws {
        let authority = try CertificateAuthority(
            name: "Old", permitting: [.host("localhost")], validity: 1_700_000_000..<4_000_000_000)
        let options = ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]
        try await TLSServer.serving(TLSIdentity(authority, .host("localhost")), options) { server in
            let result = try await Self.doctor(server, trusting: authority.certificate)
            #expect(result.exitCode == 1)
            let line = try result.checks["tls"]
            #expect(
                line?["seen"]?.string?.hasPrefix("the server takes no newer protocol than TLS 1.1")
                    == true, "\(result)")
            #expect(try result.checks["certificate"]?["status"] == "ok", "\(result)")
            #expect(try result.checks["redirect"]?["status"] == "skipped", "\(result)")
        }
    }

    @Test func `a server without forward secrecy is reported`() async throws {
        let folder = try TemporaryFolder()
        let openssl = try #require(Executable.installed("openssl"))
        let made = try await openssl.run(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost", "-keyout", folder.path("key.pem"), "-out",
            folder.path("certificate.pem"))
        try #require(made.ending == .exit(0), "\(made)")
        let identity = TLSIdentity(
            certificate: try folder.contents("certificate.pem"),
            key: try folder.contents("key.pem"))
        let options = ["-tls1_2", "-cipher", "kRSA+AESGCM"]
        try await TLSServer.serving(identity, options) { server in
            let certificate = try Certificate(pemRepresentation: identity.certificate)
            let result = try await Self.doctor(server, trusting: certificate)
            let seen = try result.checks["tls"]?["seen"]?.string ?? ""
            #expect(seen.hasPrefix("TLS 1.2 with AES") && seen.contains("no forward secrecy"))
            #expect(result.exitCode == 1, "\(result)")
        }
    }

    /// What the emulator answers in place of Apple's own answer, and what the doctor says to it.
    private static let faults: [(JSON, String, String)] = [
        (
            ["status": 200, "page": "json"], "forged_notification",
            "your endpoint accepts forged notifications"
        ),
        (["status": 503, "page": "empty"], "forged_notification", "answered 503"),
        (["status": 404, "page": "empty"], "forged_notification", "no endpoint takes POST"),
        (["status": 413, "page": "html"], "forged_notification", "no answer to a forged"),
        (["status": 429, "page": "empty"], "forged_notification", "no answer to a forged"),
        (
            ["status": 401, "page": "html", "headers": ["WWW-Authenticate": "Basic realm=\"x\""]],
            "forged_notification", "asks for a password"
        ),
        (
            [
                "status": 308, "page": "empty",
                "headers": ["Location": "https://www.example.com/apple"],
            ], "redirect", "308, to https://www.example.com/apple"
        ),
        (["cut": "no_answer"], "forged_notification", "not answered"),
    ]

    @Test(arguments: faults)
    func `a response that Apple should not get is reported`(
        _ fault: JSON, _ name: String, _ words: String
    ) async throws {
        let apple = try await LocalApple()
        let members = try #require(fault.members)
        try await apple.post(
            "faults", .object(members + [.init("endpoint", "/auth/token"), .init("count", 9)]))
        let result = try await apple.siwa(
            "doctor", "--endpoint", "\(apple.url)/auth/token", "--json")
        #expect(result.exitCode == 1, "\(result)")
        let line = try result.checks[name]
        #expect(line?["status"] == "failed", "\(result)")
        #expect(line?["seen"]?.string?.contains(words) == true, "\(result)")
        #expect(try result.json["cause"]?["seen"] == line?["seen"])
    }

    @Test func `a refusal that a proxy may have sent is a warning`() async throws {
        let apple = try await LocalApple()
        try await apple.post(
            "faults", ["status": 403, "page": "html", "endpoint": "/auth/token", "count": 9])
        let result = try await apple.siwa(
            "doctor", "--endpoint", "\(apple.url)/auth/token", "--json")
        #expect(result.exitCode == 0, "\(result)")
        let line = try result.checks["forged_notification"]
        #expect(line?["status"] == "warning" && line?["advice"] != nil, "\(result)")
        let cause = try result.json["cause"]?["seen"]?.string ?? ""
        #expect(cause.hasPrefix("whether Apple can post to this endpoint is not known"), "\(cause)")
    }

    @Test func `a refused notification of the emulator is reported`() async throws {
        let apple = try await LocalApple()
        // Every form is refused with 400, a notification too.
        let result = try await apple.siwa(
            "doctor", "--endpoint", "\(apple.url)/auth/token", "--emulator", apple.url, "--json")
        #expect(result.exitCode == 1, "\(result)")
        let lines = try result.checks
        #expect(lines["forged_notification"]?["status"] == "warning")
        #expect(lines["signed_notification"]?["seen"] == "answered 400, in place of 200")
        let unknown = try await apple.siwa(
            "doctor", "--endpoint", "\(apple.url)/auth/token", "--emulator", apple.url,
            "--client-id", "com.example.unknown", "--json")
        let seen = try unknown.checks["signed_notification"]?["seen"]?.string ?? ""
        #expect(seen.contains("signs nothing") && seen.contains("com.example.unknown"), "\(seen)")
    }

    @Test func `a port without a listener and an unknown host are reported`() async throws {
        let apple = try await LocalApple()
        for (url, name) in [
            ("https://localhost:9/", "connection"), ("https://nowhere.invalid/", "dns"),
        ] {
            let result = try await apple.siwa("doctor", "--endpoint", url, "--json")
            let lines = try result.checks
            #expect(lines[name]?["status"] == "failed", "\(result)")
            #expect(lines["tls"]?["seen"] == "not reached")
        }
    }

    @Test(arguments: [
        ("app.example.com/apple", "the URL must begin with https://"),
        ("https://app.example.com/a#b", "the URL must not have a fragment (#)"),
        ("https://u:p@app.example.com/", "the URL must not have a user name or a password (@)"),
    ])
    func `a URL that Apple's portal refuses is not requested`(_ url: String, _ words: String)
        async throws
    {
        let siwa = try Executable.product("siwa")
        let result = try await siwa.run("doctor", "--endpoint", url, "--json")
        #expect(result.exitCode == 1, "\(result)")
        #expect(try result.checks["endpoint_url"]?["seen"]?.string == words)
        #expect(try result.checks["dns"]?["status"] == "skipped")
    }

    @Test func `flags that exclude each other are refused`() async throws {
        let siwa = try Executable.product("siwa")
        for arguments in [
            ["--emulator", "http://127.0.0.1:1"],
            ["--endpoint", "https://a.example/", "--online"],
            ["--endpoint", "https://a.example/", "--emulator", "http://example.com"],
        ] {
            let result = try await siwa.run(Executable.Call(["doctor"] + arguments))
            #expect(result.exitCode == 2, "\(result)")
        }
    }

    /// Whether a text ends in the days that are left of a certificate's life: one less as soon as a
    /// second of it has passed.
    private static func isLeft(_ days: Int, in text: String) -> Bool {
        text.hasSuffix("Z, in \(days) days") || text.hasSuffix("Z, in \(days - 1) days")
    }

    private static func fixture(days: Int = 90) async throws -> (ServerFixture, TestChain) {
        let fixture = try await ServerFixture()
        return (fixture, try await TestChain(in: fixture.apple.folder, days: days))
    }

    private static func serve(
        _ fixture: ServerFixture, _ certificate: String, _ key: String
    ) async throws -> ServerProcess {
        try await fixture.serve([
            .init(
                "notifications",
                [
                    "listen": "127.0.0.1:0",
                    "tls": ["certificate": .string(certificate), "key": .string(key)],
                ])
        ])
    }

    private static func doctor(
        _ server: TLSServer, trusting certificate: Certificate
    ) async throws -> ProgramResult {
        let folder = try TemporaryFolder()
        let file = try folder.write("ca.pem", try certificate.pemRepresentation())
        // openssl s_server does not answer POST.
        return try await Executable.product("siwa").run(
            "doctor", "--endpoint", "https://localhost:\(server.port)/", "--ca-file", file,
            "--timeout", "15s", "--json", environment: ["XDG_CACHE_HOME": folder.path("cache")])
    }
}

/// A server's certificate of localhost, issued by an intermediate authority.
struct TestChain {
    /// The server's certificate alone, and with its issuer's.
    let leaf, full, key: String
    private let folder: TemporaryFolder

    /// - Parameter days: the lifetime of all its certificates.
    init(in folder: TemporaryFolder, days: Int = 2) async throws {
        self.folder = folder
        let script = """
            set -e; cd "$0"
            key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
            openssl req -x509 $key -days \(days) -subj '/CN=Test Root' -keyout root.key -out root.pem
            issue() { # CERTIFICATE NAME ISSUER EXTENSIONS
                openssl req $key -subj "/CN=$2" -keyout "$1.key" -out "$1.csr"
                printf "$4" > "$1.cnf"
                openssl x509 -req -in "$1.csr" -CA "$3.pem" -CAkey "$3.key" -days \(days) \
                    -CAcreateserial -extfile "$1.cnf" -out "$1.pem"
            }
            issue intermediate 'Test Intermediate' root 'basicConstraints=critical,CA:TRUE\\n'
            issue leaf localhost intermediate 'subjectAltName=DNS:localhost\\n'
            cat leaf.pem intermediate.pem > full.pem
            """
        let made = try await Executable(path: "/bin/sh").run(
            Executable.Call(
                ["-c", script, folder.path],
                environment: ["PATH": "/usr/local/bin:/usr/bin:/bin"]))
        try #require(made.ending == .exit(0), "\(made)")
        (leaf, full) = (folder.path("leaf.pem"), folder.path("full.pem"))
        key = folder.path("leaf.key")
    }

    /// A file of several certificates of the folder, or at other paths.
    func trusting(_ names: String...) throws -> String { try trusting(names) }

    func trusting(_ names: [String]) throws -> String {
        let contents = try names.flatMap { name in
            try Data(contentsOf: URL(filePath: name.hasPrefix("/") ? name : folder.path(name)))
        }
        return try folder.write("trusted.pem", Array(contents))
    }
}

extension ServerProcess {
    /// The port of a listener.
    func port(_ listener: String) throws -> String {
        try #require(try place(listener).split(separator: ":").last.map(String.init))
    }
}

extension ProgramResult {
    /// The checks of `siwa doctor --json` by their names.
    fileprivate var checks: [String: JSON] {
        get throws {
            let checks = try json["checks"]?.elements ?? []
            return Dictionary(
                checks.map { ($0["name"]?.string ?? "", $0) }, uniquingKeysWith: { $1 })
        }
    }
}
