import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// An emulator with one team, and the means to talk to it as a client would.
struct EmulatorHarness: Sendable {
    /// When every test begins.
    static let start = NumericDate(1_800_000_000)
    static let team = TeamID(unchecked: "A1B2C3D4E5")
    static let keyID = KeyID(unchecked: "K1L2M3N4P5")
    /// The team that the clients can be transferred to; it has the same key under another name.
    static let recipient = TeamID(unchecked: "R1C2P3N4T5")
    static let recipientsKeyID = KeyID(unchecked: "B1L2M3N4P5")
    static let app = "com.example.app"
    static let web = "com.example.web"
    /// A second app.
    static let other = "com.example.other"
    static let callback = "https://example.com/callback"
    static let callbackWithQuery = "https://example.com/callback?from=apple"
    /// Registered, but usable only if a switch allows it.
    static let loopback = "http://127.0.0.1:8000/callback"

    /// Shared, because finding primes takes longer than all tests together.
    private static let shared = Task {
        (keys: try await EmulatorKeys.generate(), signing: try P256PrivateKey.generate())
    }

    let emulator: AppleEmulator
    let key: P256PrivateKey

    init(_ switches: JSON = [:], posting receiver: Receiver? = nil) async throws {
        let (keys, signing) = try await Self.shared.value
        key = signing
        emulator = AppleEmulator(
            configuration: Self.configuration(key: signing.publicKey), keys: keys,
            clock: { Self.start }, posting: receiver,
            timekeeper: receiver?.timekeeper ?? .system)
        try await control("switches", switches)
    }

    init(_ emulator: AppleEmulator, key: P256PrivateKey) {
        (self.emulator, self.key) = (emulator, key)
    }

    static func configuration(key: P256PublicKey) -> EmulatorConfiguration {
        EmulatorConfiguration(
            teamID: team,
            clients: [
                EmulatedClient(clientID: ClientID(unchecked: app), kind: .app),
                EmulatedClient(
                    clientID: ClientID(unchecked: web), kind: .web,
                    redirectURIs: [callback, callbackWithQuery, loopback]),
                EmulatedClient(clientID: ClientID(unchecked: other), kind: .app),
                EmulatedClient(
                    clientID: ClientID(unchecked: "com.example.locked"), kind: .app, keyIDs: []),
            ],
            keys: [EmulatedKey(keyID: keyID, publicKey: key)], users: users,
            recipient: EmulatedTeam(
                teamID: recipient,
                keys: [EmulatedKey(keyID: recipientsKeyID, publicKey: key)]))
    }

    /// A number below 002000, 16 bytes, a time of day: recorded of `sub`, and of `transfer_sub`.
    static var identifierShape: Regex<(Substring, Substring)> {
        /00[01][0-9]{3}\.[0-9a-f]{32}\.([01][0-9]|2[0-3])[0-5][0-9]/
    }

    static let users = [
        EmulatedUser(
            name: "alice", userID: UserID(unchecked: "001234.0123456789abcdef.0830"),
            firstName: "Alice", lastName: "O'Hara & <Sons>", email: "alice@example.com",
            realUserStatus: 2),
        EmulatedUser(
            name: "bob", userID: UserID(unchecked: "001235.0123456789abcdef.0931"),
            email: "qwertz1234@privaterelay.appleid.com", isPrivateEmail: true),
        EmulatedUser(name: "carol", userID: UserID(unchecked: "001236.0123456789abcdef.1032")),
    ]
}

// What a client does.
extension EmulatorHarness {
    /// A good client_secret of `client`.
    func secret(_ client: String = app) throws -> String {
        try SecretDraft(client).minted(by: key)
    }

    /// Signs a user in.
    func code(_ client: String = app, _ extra: [JSON.Member] = []) async throws -> String {
        let members = [JSON.Member("client_id", .string(client))] + extra
        return try #require(try await emulator.control("codes", .object(members))["code"]?.string)
    }

    /// Posts a form.
    func post(
        _ path: String, _ parameters: [(String, String)], fields: [HTTPField] = []
    ) async -> HTTPResponse {
        let form = Form(parameters.map { ($0, .plain($1)) })
        return await post(path, body: form.encoded().revealed(), fields: fields)
    }

    /// Posts bytes as a form.
    func post(
        _ path: String, body: [UInt8], fields: [HTTPField] = []
    ) async -> HTTPResponse {
        let type = HTTPField("Content-Type", Form.contentType)
        return await emulator.respond(
            to: EmulatorRequest(
                method: "POST", target: path,
                fields: fields["content-type"] == nil ? fields + [type] : fields, body: body)
        ).response
    }

    /// Asks the token endpoint as `client`, with a good secret unless `extra` has its own.
    func token(
        _ extra: [(String, String)], as client: String = app
    ) async throws -> Outcome {
        var parameters = [("client_id", client)]
        if !extra.contains(where: { $0.0 == "client_secret" }) {
            parameters.append(("client_secret", try secret(client)))
        }
        return Outcome(await post("/auth/token", parameters + extra))
    }

    func exchange(
        _ code: String, as client: String = app, _ extra: [(String, String)] = []
    ) async throws -> Outcome {
        try await token(
            [("grant_type", "authorization_code"), ("code", code)] + extra, as: client)
    }

    func refresh(_ token: String, as client: String = app) async throws -> Outcome {
        try await self.token(
            [("grant_type", "refresh_token"), ("refresh_token", token)], as: client)
    }

    /// Signs in, exchanges the code, and gives Apple's answer.
    func session(_ client: String = app, _ extra: [JSON.Member] = []) async throws -> JSON {
        let redirect = client == Self.web ? [("redirect_uri", Self.callback)] : []
        let outcome = try await exchange(try await code(client, extra), as: client, redirect)
        return try #require(outcome.status == 200 ? outcome.body : nil)
    }

    @discardableResult
    func control(_ name: String, _ body: JSON = [:]) async throws -> JSON {
        try await emulator.control(name, body)
    }

    /// The latest request as the emulator wrote it down.
    func record() async throws -> JSON {
        try #require(try await emulator.control("requests")["requests"]?.elements?.last)
    }

    func verdict() async throws -> String {
        try await record().text("verdict")
    }

    /// An identity token, its signature checked with the published keys.
    func verified(_ token: String?) async throws -> CompactJWS {
        let jws = try CompactJWS(try #require(token))
        let keys = try #require(KeySet(await get("/auth/keys").body))
        let key = try #require(keys[try jws.header.text("kid")])
        #expect(try key.isValidSignature(jws.signature, for: jws.signingInput.span))
        return jws
    }
}

extension SecretDraft {
    /// A good secret of the emulator's team and key.
    init(_ client: String = EmulatorHarness.app, at now: NumericDate = EmulatorHarness.start) {
        self.init(client, of: EmulatorHarness.team, under: EmulatorHarness.keyID, at: now)
    }
}
