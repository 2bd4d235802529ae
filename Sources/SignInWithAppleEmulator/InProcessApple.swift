package import AppleEmulator
public import FoundationEssentials
internal import JOSE
internal import Lifecycle
internal import SIWACrypto
public import SignInWithApple

/// An emulator of Apple for tests in the same process, without a socket, with one registered app.
///
/// It is as strict as `siwa-emulator`, and has the same controls.
///
/// ```swift
/// let apple = try await InProcessApple()
/// let signIn = try await apple.client.exchange(try await apple.signIn())
/// ```
public struct InProcessApple: Sendable {
    /// The app: a client with its own key, which sends requests to this emulator.
    public let client: SignInWithAppleClient
    /// A transport to this emulator, for your own clients. They need the same `now` as the emulator, or
    /// their client secrets are refused with `invalid_client`.
    public let transport: any SignInWithApple.Transport
    /// The app's team.
    public let teamID: String
    /// The id of the app's private key.
    public let keyID: String
    /// The app's private key in PEM, as in a `.p8` file.
    public let privateKey: String
    package let emulator: AppleEmulator

    /// Starts an emulator with one app and one user named `alice`.
    ///
    /// - Parameters:
    ///   - clientID: the app's client id.
    ///   - now: the time of the emulator and the client; by default a fixed time in January 2027.
    /// - Throws: ``EmulatorError`` if no keys can be generated.
    public init(
        clientID: String = "com.example.app",
        now: @escaping @Sendable () -> Date = { Date(timeIntervalSince1970: 1_800_000_000) }
    ) async throws(EmulatorError) {
        (teamID, keyID) = ("A1B2C3D4E5", "K1L2M3N4P5")
        do {
            let key = try P256PrivateKey.generate()
            privateKey = String(decoding: try key.pemRepresentation().revealed(), as: UTF8.self)
            emulator = AppleEmulator(
                configuration: Self.configuration(clientID, teamID, keyID, key.publicKey),
                keys: try await Self.keys.value,
                clock: { NumericDate(now()) })
            transport = InProcessTransport(EmulatorTransport(emulator))
            client = try SignInWithAppleClient(
                teamID: teamID, clientID: clientID, keyID: keyID, privateKey: privateKey,
                transport: transport, now: now)
        } catch {
            throw EmulatorError(message: "\(error)")
        }
    }

    private static func configuration(
        _ clientID: String, _ teamID: String, _ keyID: String, _ key: P256PublicKey
    ) -> EmulatorConfiguration {
        EmulatorConfiguration(
            teamID: TeamID(unchecked: teamID),
            clients: [EmulatedClient(clientID: ClientID(unchecked: clientID), kind: .app)],
            keys: [EmulatedKey(keyID: KeyID(unchecked: keyID), publicKey: key)],
            users: [
                EmulatedUser(
                    name: "alice", userID: EmulatedUser.freshUserID(), firstName: "Alice",
                    lastName: "Archer", email: "alice@example.com")
            ])
    }

    /// Apple's keys, which all instances share because generating them is slow.
    private static let keys = Task { try await EmulatorKeys.generate() }

    /// Signs a user in.
    ///
    /// - Parameters:
    ///   - user: the name of the user.
    ///   - nonce: the nonce of the sign-in request.
    /// - Returns: the authorization code.
    /// - Throws: ``EmulatorError`` if the user does not exist.
    public func signIn(
        _ user: String = "alice", nonce: String? = nil
    ) async throws(EmulatorError) -> String {
        let nonce = nonce.map { [JSON.Member("nonce", .string($0))] } ?? []
        let answer = try await control(
            "codes",
            .object(
                [
                    .init("client_id", .string(client.clientID)), .init("user", .string(user)),
                ] + nonce))
        return answer["code"]?.string ?? ""
    }

    /// Controls the emulator, like a request to a path under `/emulator/`: faults, the clock,
    /// notifications, users, the log of requests (docs/emulator.md).
    ///
    /// ```swift
    /// try await apple.control("faults", #"{"endpoint": "/auth/token", "status": 503}"#)
    /// ```
    ///
    /// - Parameters:
    ///   - name: the path after `/emulator/`.
    ///   - body: a JSON object.
    /// - Returns: the answer, a JSON object.
    /// - Throws: ``EmulatorError`` with the error of the same request.
    @discardableResult
    public func control(
        _ name: String, _ body: String = "{}"
    ) async throws(EmulatorError) -> String {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(text: body)
        } catch {
            throw EmulatorError(message: "the body \(error)")
        }
        return try await control(name, json).text
    }

    private func control(_ name: String, _ body: JSON) async throws(EmulatorError) -> JSON {
        do {
            return try await emulator.control(name, body)
        } catch {
            throw EmulatorError(message: "\(error)")
        }
    }
}

/// The emulator refused a call.
public struct EmulatorError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public let message: String

    /// ``message``.
    public var description: String { message }
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
