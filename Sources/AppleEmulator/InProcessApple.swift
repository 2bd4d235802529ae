internal import SIWACrypto
public import SignInWithApple

/// An Apple for tests in the same process: an emulator, and an app that it knows.
public struct InProcessApple: Sendable {
    /// The emulator: `try await apple.emulator.control("faults", ["status": 503])`.
    public let emulator: AppleEmulator
    /// The app, with a key of its own.
    public let client: Client
    /// What reaches the emulator as if over a network.
    public let transport: EmulatorTransport
    private let clocks: Clocks

    /// Starts with one app and one user, who is called `alice`.
    ///
    /// - Parameters:
    ///   - clientID: what the app is called.
    ///   - now: the time on both sides; unless given, it stands still in January 2027.
    /// - Throws: ``OpenSSLError`` when no keys can be made.
    public init(
        clientID: ClientID = ClientID(unchecked: "com.example.app"),
        now: @escaping @Sendable () -> NumericDate = { NumericDate(1_800_000_000) }
    ) async throws {
        let team = TeamID(unchecked: "A1B2C3D4E5")
        let keyID = KeyID(unchecked: "K1L2M3N4P5")
        let key = try P256PrivateKey.generate()
        let configuration = EmulatorConfiguration(
            teamID: team, clients: [EmulatedClient(clientID: clientID, kind: .app)],
            keys: [EmulatedKey(keyID: keyID, publicKey: key.publicKey)],
            users: [
                EmulatedUser(
                    name: "alice", userID: EmulatedUser.freshUserID(), firstName: "Alice",
                    lastName: "Archer", email: "alice@example.com")
            ])
        emulator = AppleEmulator(
            configuration: configuration, keys: try await Self.keys.value, clock: now)
        client = Client(
            teamID: team, clientID: clientID, signingKey: SigningKey(key, id: keyID))
        transport = EmulatorTransport(emulator)
        clocks = Clocks(now: now, timekeeper: .system)
    }

    /// Apple's own keys, which take longer to make than everything else: all instances share them.
    private static let keys = Task { try await EmulatorKeys.generate() }

    /// A client of its token endpoints, which gives up after half a minute.
    public var tokens: TokenClient {
        TokenClient(
            client: client,
            delivery: Delivery(
                through: transport, until: Deadline(after: .seconds(30), by: clocks.timekeeper),
                clocks: clocks))
    }

    /// Signs `alice` in.
    public func signIn() async throws -> AuthorizationCode {
        let answer = try await emulator.control(
            "codes", ["client_id": .string("\(client.clientID)")])
        return AuthorizationCode(SecretText(answer["code"]?.string ?? ""))
    }
}
