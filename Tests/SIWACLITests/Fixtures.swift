import Foundation
import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle

/// The fixtures of every scenario: one team, its keys, its two clients, its users.
struct Fixtures: Sendable {
    /// Shared, because finding primes takes longer than most scenarios together.
    static let shared = Task { try await Fixtures() }

    let emulatorKeys: EmulatorKeys
    let apple: EmulatorConfiguration
    /// The `.p8` that Apple knows.
    let key: String
    /// Creates tokens like Apple's, except for the changes of a scenario.
    let tokens: TokenMint
    /// The key of the team that the clients can be transferred to.
    let recipientsKey: String
    /// A `.p8` that Apple does not know.
    let strangersKey: String

    private init() async throws {
        let key = try P256PrivateKey.generate()
        let recipientsKey = try P256PrivateKey.generate()
        self.recipientsKey = try Self.pem(recipientsKey)
        emulatorKeys = try await EmulatorKeys.generate()
        tokens = try TokenMint()
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
                    email: "alice@example.com", realUserStatus: 2),
                EmulatedUser(
                    name: "bob", userID: UserID(unchecked: "001235.0123456789abcdef.0931"),
                    email: "qwertz1234@privaterelay.appleid.com", isPrivateEmail: true),
            ],
            recipient: EmulatedTeam(
                teamID: TeamID(unchecked: "R1C2P3N4T5"),
                keys: [
                    EmulatedKey(
                        keyID: KeyID(unchecked: "B1L2M3N4P5"), publicKey: recipientsKey.publicKey)
                ]))
    }

    /// Tokens that Apple really signed; PROVENANCE.md next to the files gives the dates.
    private static func vector(_ name: String) -> String {
        let url = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../SignInWithAppleTests/Vectors/\(name)")
        let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    private static func pem(_ key: P256PrivateKey) throws -> String {
        String(decoding: try key.pemRepresentation().revealed(), as: UTF8.self)
    }

    /// The forms in which users have their key, by their names in scenarios.
    var shapes: [String: String] {
        let body = key.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        return [
            "KEY": key, "STRANGERS_KEY": strangersKey, "RECIPIENTS_KEY": recipientsKey,
            "KEY_ESCAPED": key.split(separator: "\n").joined(separator: "\\n"),
            "KEY_CRLF": key.split(separator: "\n").joined(separator: "\r\n"),
            "KEY_BODY": body, "CR": "\r", "BYTE_ORDER_MARK": "\u{FEFF}", "NO_BREAK_SPACE": "\u{A0}",
            "ZERO_WIDTH_SPACE": "\u{200B}", "JWKS": tokens.keySet.text,
            "JWK": tokens.keySet["keys"]?.elements?.first?.text ?? "",
            "APPLE_TOKEN": Self.vector("identity-token-2019-06.jwt"),
            "APPLE_NOTIFICATION": Self.vector("notification-2022-07.jwt"),
            "APPLE_KEYS": Self.vector("jwks-2019-2022.json"),
        ].merging(Self.refreshTokens) { first, _ in first }
    }

    /// `T1` to `T9`: texts of the shape of refresh tokens, which Apple does not know.
    private static var refreshTokens: [String: String] {
        Dictionary(
            (1...9).map { number in
                let digits = String(repeating: "0123456789abcde\(number)", count: 2)
                return ("T\(number)", "r\(digits).0.msux.AbCdEfGhIjKlMnOpQrSt-\(number)")
            }, uniquingKeysWith: { first, _ in first })
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
