internal import SIWACrypto
internal import SIWAEmulator
internal import SIWAJOSE
internal import SIWALifecycle

/// An emulator that exists only to issue the good tokens of a document: everything in it follows
/// from the options.
struct VectorIssuer {
    private static let teamID = TeamID(unchecked: "A1B2C3D4E5")
    private static let keyID = KeyID(unchecked: "K1L2M3N4P5")
    /// A client of the team that is not among the audiences of the verifier.
    private static let sibling = "com.example.sibling"

    let options: VectorOptions
    let issuer: Issuer
    /// The nonce before it is hashed.
    let nonce: String
    private let emulator: AppleEmulator

    init(_ options: VectorOptions) async throws {
        self.options = options
        let source = SeededSource(seed: options.seed)
        var random = source.stream("nonce of vectors")
        nonce = options.nonce ?? random.text(32)
        var scalars = source.stream("client key of vectors")
        let key = try ReproducibleP256Key(scalar: [1] + scalars.bytes(31))
        emulator = try await AppleEmulator.seeded(
            options.seed, configuration: Self.configuration(options, key.publicKey),
            clock: { options.at })
        _ = try await emulator.control(
            "switches", ["id_token_lifetime": .integer(Int(options.lifetime.components.seconds))])
        issuer = Issuer(
            await emulator.publishedKeys,
            clientSecret: { try Self.clientSecret(of: $0, now: $1, key) })
    }

    private static func configuration(
        _ options: VectorOptions, _ key: P256PublicKey
    ) -> EmulatorConfiguration {
        let clients = options.audiences + [sibling]
        return EmulatorConfiguration(
            teamID: teamID,
            clients: clients.map {
                EmulatedClient(clientID: ClientID(unchecked: $0), kind: .app)
            },
            keys: [EmulatedKey(keyID: keyID, publicKey: key)],
            users: [
                user("alice", "001234.6e5c0a1f4b2d4c7f9a3e8d7b6c5f4e3d.0830"),
                user("mallory", "001935.0b1c2d3e4f5061728394a5b6c7d8e9fa.2114"),
            ])
    }

    private static func user(_ name: String, _ subject: String) -> EmulatedUser {
        EmulatedUser(
            name: name, userID: UserID(unchecked: subject), email: "\(name)@example.com")
    }

    /// The `client_secret` of a client, with a signature that is the same every time.
    private static func clientSecret(
        of client: String, now: Int, _ key: ReproducibleP256Key
    ) throws -> String {
        let input = CompactJWS.signingInput(
            header: ["alg": "ES256", "kid": keyID.json],
            payload: [
                "iss": teamID.json, "iat": .integer(now), "exp": .integer(now + 3600),
                "aud": "https://appleid.apple.com", "sub": .string(client),
            ])
        let signature = try key.signature(for: input.revealed()).rawRepresentation
        return SecretText(CompactJWS.compact(input, signature: signature)).revealed()
    }

    /// What came of one good sign-in of a user in the first client.
    func goodSignIn() async throws -> GoodSignIn {
        let client = options.audiences.first ?? ""
        let good = try await signIn("alice", client)
        let other = try await signIn("mallory", client)
        return try GoodSignIn(
            token: good.token, code: good.code,
            accessToken: await emulator.accessToken(of: "alice"), nonce: nonce,
            audiences: options.audiences,
            siblingClient: options.audiences.contains(Self.sibling) ? nil : Self.sibling,
            other: other.token, notification: await notification(["type": "email-disabled"]))
    }

    private func signIn(
        _ user: String, _ client: String
    ) async throws -> (code: String, token: String) {
        let answer = try await emulator.control(
            "codes",
            [
                "client_id": .string(client), "user": .string(user),
                "nonce": .string(try SHA256.digest(nonce).hexadecimal),
            ])
        return (answer["code"]?.string ?? "", answer["id_token"]?.string ?? "")
    }

    /// The payload of a genuine notification about the user.
    ///
    /// - Parameter body: members of the control request.
    func notification(_ body: JSON, switches: JSON = [:]) async throws -> String {
        let client = options.audiences.first ?? ""
        let members =
            (body.members ?? []) + [
                JSON.Member("user", "alice"), JSON.Member("client_id", .string(client)),
            ]
        if switches != [:] { _ = try await emulator.control("switches", switches) }
        let answer = try await emulator.control("notifications", .object(members))
        return answer["payload"]?.string ?? ""
    }
}
