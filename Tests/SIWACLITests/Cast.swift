import AppleEmulator
import SIWACrypto
import SignInWithApple

/// Who takes part in every scenario: one team, its keys, its two clients, its users.
struct Cast: Sendable {
    /// Shared, because finding primes takes longer than most scenarios together.
    static let shared = Task { try await Cast() }

    let emulatorKeys: EmulatorKeys
    let apple: EmulatorConfiguration
    /// The `.p8` that Apple knows.
    let key: String
    /// A `.p8` it does not know.
    let strangersKey: String

    private init() async throws {
        let key = try P256PrivateKey.generate()
        emulatorKeys = try await EmulatorKeys.generate()
        self.key = try Self.pem(key)
        strangersKey = try Self.pem(P256PrivateKey.generate())
        let keyID = KeyID(unchecked: "K1L2M3N4P5")
        apple = EmulatorConfiguration(
            teamID: TeamID(unchecked: "A1B2C3D4E5"),
            clients: [
                EmulatedClient(clientID: ClientID(unchecked: "com.example.app"), kind: .app),
                EmulatedClient(
                    clientID: ClientID(unchecked: "com.example.web"), kind: .web,
                    redirectURIs: ["https://example.com/callback"]),
            ],
            keys: [EmulatedKey(keyID: keyID, publicKey: key.publicKey)],
            users: [
                EmulatedUser(
                    name: "alice", userID: UserID(unchecked: "001234.0123456789abcdef.0830"),
                    email: "alice@example.com", realUserStatus: 2)
            ])
    }

    private static func pem(_ key: P256PrivateKey) throws -> String {
        String(decoding: try key.pemRepresentation().revealed(), as: UTF8.self)
    }

    /// The shapes in which people have their key, by the names scenarios use.
    var shapes: [String: String] {
        let body = key.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        return [
            "KEY": key, "STRANGERS_KEY": strangersKey,
            "KEY_ESCAPED": key.split(separator: "\n").joined(separator: "\\n"),
            "KEY_CRLF": key.split(separator: "\n").joined(separator: "\r\n"),
            "KEY_BODY": body, "CR": "\r",
        ]
    }

    static let configuration = """
        {
          "default_profile": "app",
          "profiles": {
            "app": {
              "team_id": "A1B2C3D4E5",
              "client_id": "com.example.app",
              "key_id": "K1L2M3N4P5",
              "private_key": "AuthKey_K1L2M3N4P5.p8"
            },
            "web": {
              "team_id": "A1B2C3D4E5",
              "client_id": "com.example.web",
              "private_key": "AuthKey_K1L2M3N4P5.p8",
              "redirect_uri": "https://example.com/callback"
            }
          }
        }
        """
}
