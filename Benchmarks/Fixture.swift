import Glibc
import SIWACrypto
import SIWAJOSE
import SIWALifecycle

/// The folder of a benchmark: keys, certificates, tokens, and the inputs of the peers.
struct Fixture {
    /// Where it is.
    let path: String
    /// The folder of the programs that were built.
    let programs: String
    /// The folder of the peers' scripts.
    let peers: String
    /// The key that mints.
    let key: P256PrivateKey

    static let team = TeamID(unchecked: "A1B2C3D4E5")
    static let keyID = KeyID(unchecked: "K1L2M3N4P5")
    static let client = ClientID(unchecked: "com.example.app")
    static let port = 18_457

    /// The URL to which revocations are sent.
    static let endpoint = "https://localhost:\(port)/auth/revoke"

    /// Fills `path`, after removing what it held.
    init(at path: String, programs: String, peers: String) throws {
        (self.path, self.programs, self.peers) = (path, programs, peers)
        mkdir(path, 0o700)
        key = try P256PrivateKey.generate()
        try write("AuthKey.p8", key.pemRepresentation().revealed())
        let secret = try ClientSecret(
            signedBy: key, as: Self.keyID, for: Self.client, of: Self.team, at: today,
            lifetime: .seconds(86_400))
        try write("secret.txt", secret.text.bytes.revealed())
        try writeCertificates()
    }

    /// The path of a file in it.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// A program of this project.
    func program(_ name: String) -> String { "\(programs)/\(name)" }

    /// Writes a file, for this user alone: `first`, then `bytes` as many times as wanted.
    func write(
        _ name: String, first: [UInt8] = [], _ bytes: [UInt8], times: Int = 1
    ) throws {
        let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw BenchmarkError("'\(file(name))' cannot be written") }
        defer { close(descriptor) }
        try write(first, to: descriptor)
        for _ in 0..<times { try write(bytes, to: descriptor) }

        func write(_ bytes: [UInt8], to descriptor: CInt) throws {
            let written = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard written == bytes.count else {
                throw BenchmarkError("'\(file(name))' cannot be written")
            }
        }
    }

    /// Writes a text.
    func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

    /// Writes made-up refresh tokens, a line each: `hundreds` times a hundred.
    func writeRefreshTokens(_ name: String, hundreds: Int) throws {
        let lines = (0..<100).map { number in
            let digits = String(number)
            let padding = String(repeating: "0", count: 32 - digits.count)
            return "r\(padding)\(digits).0.nrzuu.AAAAAAAAAAAAAAAAAAAAAA\n"
        }
        try write(name, Array(lines.joined().utf8), times: hundreds)
    }

    /// Writes a set of twenty keys, and files of different identity tokens signed by them, a line
    /// each: as many as each file's name is paired with. The lines of a `.jsonl` are JSON. The
    /// first token is also in token.txt.
    func writeIdentityTokens(_ files: KeyValuePairs<String, Int>) throws {
        let keys = try (0..<20).map { (id: "bench\($0)", key: try RSAPrivateKey.generate()) }
        try write("jwks.json", Self.keySet(keys).text)
        // Few tokens over and over would stay in the processor's caches, and flatter.
        let tokens = try (0..<(files.map(\.value).max() ?? 0)).map { number in
            let (id, key) = keys[number % keys.count]
            return try identityToken(number, key, id)
        }
        try write("token.txt", (tokens.first ?? "") + "\n")
        for (name, count) in files {
            let isJSON = name.hasSuffix(".jsonl")
            let lines = tokens.prefix(count).map {
                isJSON ? "{\"token\":\"\($0)\"}\n" : "\($0)\n"
            }
            try write(name, lines.joined())
        }
    }

    /// The bodies of requests to siwa-server: notifications, each with a `jti` of its own, and
    /// requests to verify an identity token. Writes the key set.
    func serverRequests() throws -> (notifications: [[UInt8]], tokens: [[UInt8]]) {
        let key = try RSAPrivateKey.generate()
        try write("jwks.json", Self.keySet([("bench", key)]).text)
        let notifications = try (0..<6_000).map { number in
            JSON.object([.init("payload", .string(try notification(number, key)))]).bytes
        }
        let tokens = try (0..<100).map { number in
            JSON.object([.init("id_token", .string(try identityToken(number, key)))]).bytes
        }
        return (notifications, (0..<30_000).map { tokens[$0 % tokens.count] })
    }

    private func notification(_ number: Int, _ key: RSAPrivateKey) throws -> String {
        let types = ["email-disabled", "email-enabled", "consent-revoked", "account-delete"]
        let event: JSON = [
            "type": .string(types[number % 4]), "sub": .string("001234.\(number % 2_000).0815"),
            "event_time": .integer(today.seconds * 1000),
        ]
        return try signed(
            [
                "iss": "https://appleid.apple.com", "aud": .string(Self.client.rawValue),
                "exp": .integer(today.seconds + 86_400), "iat": .integer(today.seconds),
                "jti": .string("notification-\(number)"), "events": .string(event.text),
            ], key)
    }

    private func identityToken(
        _ number: Int, _ key: RSAPrivateKey, _ id: String = "bench"
    ) throws -> String {
        let claims: JSON = [
            "iss": "https://appleid.apple.com", "aud": .string(Self.client.rawValue),
            "exp": .integer(today.seconds + 86_400), "iat": .integer(today.seconds),
            "sub": .string("001234.\(number).0815"), "nonce": "n-0S6_WzA2Mj",
            "email": "someone@privaterelay.appleid.com", "email_verified": "true",
            "is_private_email": "true", "auth_time": .integer(today.seconds),
            "nonce_supported": true, "real_user_status": 2,
        ]
        return try signed(claims, key, id)
    }

    private func signed(
        _ claims: JSON, _ key: RSAPrivateKey, _ id: String = "bench"
    ) throws -> String {
        let token = try CompactJWS.sign(
            header: ["kid": .string(id), "alg": "RS256"], payload: claims
        ) { try key.signature(for: $0) }
        return String(decoding: token.revealed(), as: UTF8.self)
    }

    private static func keySet(_ keys: [(id: String, key: RSAPrivateKey)]) -> JSON {
        let keys = keys.map { id, key -> JSON in
            [
                "kty": "RSA", "kid": .string(id), "use": "sig", "alg": "RS256",
                "n": .string(Base64URL.encode(key.modulus)),
                "e": .string(Base64URL.encode(key.exponent)),
            ]
        }
        return ["keys": .array(keys)]
    }

    private func writeCertificates() throws {
        let validity = today.seconds - 60..<today.seconds + 86_400
        let names: [ServerName] = [.host("localhost"), .address("127.0.0.1")]
        let authority = try CertificateAuthority(
            name: "siwa benchmark", permitting: names, validity: validity)
        let serverKey = try P256PrivateKey.generate()
        let certificate = try authority.issueServerCertificate(names: names, key: serverKey)
        try write("ca.pem", authority.certificate.pemRepresentation())
        try write("server.pem", certificate.pemRepresentation())
        try write("server.key", serverKey.pemRepresentation().revealed())
    }
}

/// The date.
var today: NumericDate { NumericDate(time(nil)) }
