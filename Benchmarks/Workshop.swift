import Glibc
import SIWACrypto
import SignInWithApple

/// The folder of a benchmark: keys, certificates, tokens, and what the peers read.
struct Workshop {
    /// Where it is.
    let path: String
    /// The folder of the programs that were built.
    let programs: String
    /// The folder of the peers' scripts.
    let peers: String
    /// The key that mints.
    let key: SigningKey

    static let team = TeamID(unchecked: "A1B2C3D4E5")
    static let client = ClientID(unchecked: "com.example.app")
    static let port = 18_457

    /// Where revocations go.
    static let endpoint = "https://localhost:\(port)/auth/revoke"

    /// Fills `path` afresh.
    init(at path: String, programs: String, peers: String) throws {
        (self.path, self.programs, self.peers) = (path, programs, peers)
        mkdir(path, 0o700)
        key = SigningKey(try P256PrivateKey.generate(), id: KeyID(unchecked: "K1L2M3N4P5"))
        try write("AuthKey.p8", key.privateKey.pemRepresentation().revealed())
        let secret = try ClientSecret(
            signedBy: key, for: Self.client, of: Self.team, at: today, lifetime: .seconds(86_400))
        try write("secret.txt", secret.text.bytes.revealed())
        try writeCertificates()
    }

    /// The path of a file in it.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// A program of this project.
    func program(_ name: String) -> String { "\(programs)/\(name)" }

    /// Writes a file, for this user alone.
    func write(_ name: String, _ bytes: [UInt8]) throws {
        let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw BenchmarkError("'\(file(name))' cannot be written") }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw BenchmarkError("'\(file(name))' cannot be written") }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes a text.
    func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

    /// Writes `count` made-up refresh tokens, a line each.
    func writeRefreshTokens(_ name: String, _ count: Int) throws {
        let lines = (0..<count).map { number in
            let digits = String(number)
            let padding = String(repeating: "0", count: 60 - digits.count)
            return "r.\(padding)\(digits).0.nrzuu.AAAAAAAAAAAAAAAAAAAAAA\n"
        }
        try write(name, lines.joined())
    }

    /// Writes the first `count` lines of a file of identity tokens into another one.
    func writeIdentityTokensHead(_ source: String, to name: String, _ count: Int) throws {
        let head = try Child.run(["head", "-n", "\(count)", file(source)])
        try write(name, head.output)
    }

    /// Writes a key set and `count` identity tokens signed by it, a line each.
    func writeIdentityTokens(_ name: String, _ count: Int) throws {
        let key = try RSAPrivateKey.generate()
        try write("jwks.json", Self.keySet(key).text)
        // Signing takes thirty times as long as verifying: a few tokens, over and over.
        let tokens = try (0..<min(count, 200)).map { try identityToken($0, key) }
        try write(name, (0..<count).map { tokens[$0 % tokens.count] + "\n" }.joined())
    }

    private func identityToken(_ number: Int, _ key: RSAPrivateKey) throws -> String {
        let claims: JSON = [
            "iss": "https://appleid.apple.com", "aud": .string(Self.client.rawValue),
            "exp": .integer(today.seconds + 86_400), "iat": .integer(today.seconds),
            "sub": .string("001234.\(number).0815"), "nonce": "n-0S6_WzA2Mj",
            "email": "someone@privaterelay.appleid.com", "email_verified": "true",
            "is_private_email": "true", "auth_time": .integer(today.seconds),
            "nonce_supported": true, "real_user_status": 2,
        ]
        let token = try CompactJWS.sign(
            header: ["kid": "bench", "alg": "RS256"], payload: claims
        ) { try key.signature(for: $0) }
        return String(decoding: token.revealed(), as: UTF8.self)
    }

    private static func keySet(_ key: RSAPrivateKey) -> JSON {
        [
            "keys": [
                [
                    "kty": "RSA", "kid": "bench", "use": "sig", "alg": "RS256",
                    "n": .string(Base64URL.encode(key.modulus)),
                    "e": .string(Base64URL.encode(key.exponent)),
                ]
            ]
        ]
    }

    private func writeCertificates() throws {
        let validity = today.seconds - 60..<today.seconds + 86_400
        let authority = try CertificateAuthority(name: "siwa benchmark", validity: validity)
        let serverKey = try P256PrivateKey.generate()
        let certificate = try authority.issueServerCertificate(
            names: [.host("localhost"), .address("127.0.0.1")], key: serverKey)
        try write("ca.pem", authority.certificate.pemRepresentation())
        try write("server.pem", certificate.pemRepresentation())
        try write("server.key", serverKey.pemRepresentation().revealed())
    }
}

/// The date.
var today: NumericDate { NumericDate(time(nil)) }
