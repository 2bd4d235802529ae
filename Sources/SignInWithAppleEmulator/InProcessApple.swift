internal import FoundationEssentials
internal import SIWACrypto
package import SIWAEmulator
internal import SIWAJOSE
internal import SIWALifecycle
public import SignInWithApple

/// An emulator of Apple for tests in the same process, without a socket, with one team.
///
/// It is as strict as `siwa-emulator`, and has the same controls.
///
/// ```swift
/// let apple = try await InProcessApple()
/// let signIn = try await apple.client.exchange(try await apple.signIn().code)
/// ```
public struct InProcessApple: Sendable {
    /// An App ID or a Services ID that the team has registered.
    public struct Client: Hashable, Sendable {
        /// The client id.
        public let clientID: String
        /// The redirect URIs of a Services ID; empty for an App ID.
        public let redirectURIs: [String]

        /// An App ID.
        public static func app(_ clientID: String) -> Self {
            Self(clientID: clientID, redirectURIs: [])
        }

        /// A Services ID, for sign-ins on the web.
        public static func web(_ clientID: String, redirectURIs: [String]) -> Self {
            Self(clientID: clientID, redirectURIs: redirectURIs)
        }
    }

    /// All registered clients, with the first key: it sends requests to this emulator as the first
    /// client, and as the others with `client(for:)`.
    public let client: SignInWithAppleClient
    /// A transport to this emulator, for your own clients. They need the emulator's ``clock``, or
    /// their client secrets are refused with `invalid_client`.
    public let transport: any SignInWithApple.Transport
    /// The time of emulator and client. Give it to the vault, too.
    public let clock: InProcessClock
    /// The team.
    public let teamID: String
    /// The private keys of the team in PEM, as in `.p8` files, by Key ID.
    public let privateKeys: [String: String]
    /// The Key ID of ``client``.
    public let keyID: String
    package let emulator: AppleEmulator

    /// The private key of ``client``.
    public var privateKey: String { privateKeys[keyID] ?? "" }

    /// The key of ``client``, for your own clients.
    public var key: ClientSecretKey {
        get throws(SignInWithAppleError) { try ClientSecretKey(pem: privateKey, id: keyID) }
    }

    /// Starts an emulator with one user named `alice`.
    ///
    /// - Parameters:
    ///   - clients: what the team has registered, at least one.
    ///   - keyIDs: the Key IDs of the team's private keys, at least one; they are generated.
    ///   - clock: the time of emulator and client; by default it runs with the system's.
    /// - Throws: ``EmulatorError`` if no keys can be generated, or for an invalid id.
    public init(
        clients: [Client] = [
            .app("com.example.app"),
            .web("com.example.web", redirectURIs: ["https://example.com/apple"]),
        ],
        keyIDs: [String] = ["K1L2M3N4P5"], clock: InProcessClock = InProcessClock()
    ) async throws(EmulatorError) {
        guard let first = clients.first, let keyID = keyIDs.first else {
            throw EmulatorError("a team has at least one client and one key")
        }
        (teamID, self.keyID, self.clock) = ("A1B2C3D4E5", keyID, clock)
        do {
            let keys = try keyIDs.map { ($0, try P256PrivateKey.generate()) }
            privateKeys = Dictionary(
                try keys.map {
                    ($0, String(decoding: try $1.pemRepresentation().revealed(), as: UTF8.self))
                }, uniquingKeysWith: { first, _ in first })
            emulator = AppleEmulator(
                configuration: Self.configuration(teamID, clients, keys),
                keys: try await Self.keys.value, clock: { NumericDate(clock.now()) })
            transport = InProcessTransport(EmulatorTransport(emulator))
            client = try SignInWithAppleClient(
                teamID: teamID, clientID: first.clientID,
                otherClientIDs: clients.dropFirst().map(\.clientID),
                key: ClientSecretKey(pem: privateKeys[keyID] ?? "", id: keyID),
                transport: transport, now: clock.now)
        } catch {
            throw EmulatorError("\(error)")
        }
    }

    private static func configuration(
        _ teamID: String, _ clients: [Client], _ keys: [(id: String, key: P256PrivateKey)]
    ) -> EmulatorConfiguration {
        EmulatorConfiguration(
            teamID: TeamID(unchecked: teamID),
            clients: clients.map {
                EmulatedClient(
                    clientID: ClientID(unchecked: $0.clientID),
                    kind: $0.redirectURIs.isEmpty ? .app : .web, redirectURIs: $0.redirectURIs)
            },
            keys: keys.map {
                EmulatedKey(keyID: KeyID(unchecked: $0.id), publicKey: $0.key.publicKey)
            },
            users: [
                EmulatedUser(
                    name: "alice", userID: EmulatedUser.freshUserID(), firstName: "Alice",
                    lastName: "Archer", email: "alice@example.com")
            ])
    }

    /// Apple's keys, which all instances share because generating them is slow.
    private static let keys = Task { try await EmulatorKeys.generate() }
}

/// The emulator refused a call.
public struct EmulatorError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public let message: String

    /// ``message``.
    public var description: String { message }

    /// Creates an error, for tests.
    public init(_ message: String) { self.message = message }
}

/// The emulator as a transport of the library.
private struct InProcessTransport: SignInWithApple.Transport {
    private let emulator: EmulatorTransport

    init(_ emulator: EmulatorTransport) { self.emulator = emulator }

    /// Nobody else can answer in the emulator's place.
    var authenticatesServer: Bool { true }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        do {
            return TransportResponse(
                try await emulator.send(request.request, timeout: request.timeout))
        } catch {
            throw SignInWithApple.TransportError(error)
        }
    }
}
