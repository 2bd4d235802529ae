import SIWACommandTable
import SIWATestSupport
import Testing

/// What is shaped like a secret is masked in every message, and nothing else is.
@Suite(.blocking) struct SecretShapesTests {
    static let digits = "0f1e2d3c4b5a697887766554433221100"
    static let jwt =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6IksxTDJNM040UDUifQ.eyJpc3MiOiJBMUIyQzNENEU1In0.c2lnbmF0dXJl"
    static let keyBody = [
        "MIGTAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBHkwdwIBAQQgjpsQnnGQmL+YBIff",
        "H1136cspYG6+0iY7X1fCE9+E9LKgCgYIKoZIzj0DAQehRANCAAR/zc4ncPbEXUGD",
        "y+5v20t7WAczNXvp7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpG",
    ]

    static let secrets =
        ["a", "c", "r"].map { "\($0)\(digits.prefix(32)).0.mrtu.S-e_CrEtSeCrEtSeCrEt" }
        + [jwt, "eyJhbGciOiJFUzI1NiJ9", "siwa_" + String(repeating: "a-", count: 21) + "a"]
        + keyBody
        + [
            "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JR1RBZ0VBTUJNR0J5cUdTTTQ5QWdFRw==",
            String(repeating: "0a", count: 32), String(repeating: "5B", count: 32),
            "-----BEGIN PRIVATE KEY-----\n" + keyBody.joined(separator: "\n")
                + "\nIyiFiOWt\n-----END PRIVATE KEY-----",
            "-----BEGIN EC PRIVATE KEY-----\\n" + keyBody.joined(separator: "\\n")
                + "\\nIyiFiOWt\\n-----END EC PRIVATE KEY-----",
        ]

    @Test(arguments: secrets) func `a secret is masked in every position`(_ secret: String) {
        let mask = "(secret, not shown)"
        #expect(maskingSecrets(in: secret) == mask)
        #expect(maskingSecrets(in: "'\(secret)' is not a file") == "'\(mask)' is not a file")
        #expect(maskingSecrets(in: "--kind=\(secret)") == "--kind=\(mask)")
        #expect(maskingSecrets(in: "@\(secret), ü") == "@\(mask), ü")
        #expect(maskingSecrets(in: "\(secret) \(secret)") == "\(mask) \(mask)")
    }

    @Test func `a key without an end marker is masked to the end of the text`() {
        let key = "-----BEGIN PRIVATE KEY-----\nIyiFiOWt"
        #expect(maskingSecrets(in: "not '\(key)'") == "not '(secret, not shown)")
    }

    @Test(arguments: [
        ("mysql://alice:hush-hush@db/x", "mysql://alice:(secret, not shown)@db/x"),
        ("not 'POSTGRESQL://a:1234@h:1/x'", "not 'POSTGRESQL://a:(secret, not shown)@h:1/x'"),
        ("http://:hush/hush#@proxy:80", "http://:(secret, not shown)@proxy:80"),
        ("not 'mysql://alice:hush-hu…'", "not 'mysql://alice:(secret, not shown)…'"),
        ("h?password=hush&user=a", "h?password=(secret, not shown)&user=a"),
        (
            "host=h password=(secret, not shown) port=1",
            "host=h password=(secret, not shown) port=1"
        ),
        ("host=h password=hush port=1", "host=h password=(secret, not shown) port=1"),
    ])
    func `a password in a URL is masked`(_ text: String, _ shown: String) {
        #expect(maskingSecrets(in: text) == shown)
    }

    @Test func `a percent-encoded secret is masked completely`() {
        let code = "c\(Self.digits.prefix(32))%2E0%2Emrtu%2ES-e_CrEt"
        #expect(maskingSecrets(in: "?code=\(code)&state=1") == "?code=(secret, not shown)&state=1")
    }

    /// Messages cut long texts.
    @Test(
        arguments: secrets.filter {
            ["a", "c", "r", "eyJ", "MI", "LS0t"].contains(where: $0.hasPrefix)
        })
    func `a truncated secret is masked`(_ secret: String) {
        for count in [20, 34] {
            let shown = maskingSecrets(in: "not '\(secret.prefix(count))…'")
            let isMasked = shown.hasPrefix("not '(secret, not shown)")
            #expect(isMasked || secret.count <= count, "\(shown)")
        }
    }

    @Test(arguments: [
        "the vault has no record of 001234.0123456789abcdef0123456789abcdef.0830",
        "the vault has no record of 001234.a123456789abcdef0123456789abcdef.0830",
        "/home/somebody/.appstoreconnect/private_keys/AuthKey_K1L2M3N4P5.p8",
        "/srv/Deployments/Production2026/EuropeWest1/secrets/AuthKey_K1L2M3N4P5.p8",
        "unknown flag '--revoke-without-confirmation'", "com.example.accounting",
        "team A1B2C3D4E5, key K1L2M3N4P5, fingerprint 0f1e2d3c4b5a",
        "https://appleid.apple.com/auth/token", "2027-01-15T08:00:00Z",
        "use a file that has -----BEGIN CERTIFICATE----- lines",
        "a value that begins eyJ is a token, not a code",
        "request id 4c3f6e2a-2ad1-4d0e-9f27-0c4f5a4cbb1f", "", "…",
        "https://localhost:9443/auth?email=a@example.com", "http://h:80, then a@b",
        "http://127.0.0.1:9…", "postgresql://alice@db:5432/x", "give it with password=",
    ])
    func `other text is not masked`(_ text: String) {
        #expect(maskingSecrets(in: text) == text)
    }

    @Test func `masking takes linear time`() {
        for unit in [
            "-", "=", "a", "a=", "a-", "--a", "eyJ ", "-----BEGIN ", "0", "r0 ", "://a:", ":a",
        ] {
            let text = String(repeating: unit, count: 200_000 / unit.utf8.count)
            #expect(!maskingSecrets(in: text).isEmpty)
        }
    }
}
