package import SIWAEmulator
package import SIWAJOSE

/// The emulator of a run, in this process or behind its control API: what it is asked for.
package protocol Apple: Sendable {
    /// Carries out a request of the control API: `users`, `codes`, `keys/rotate` …
    func control(_ name: String, _ body: JSON) async throws -> JSON
    /// The published keys now, and who signs with them.
    func issuer() async throws -> Issuer
    /// Has the exchange of `code` answer with `idToken` in place of a good identity token, and with
    /// `accessToken`.
    func prepare(
        _ idToken: String, with accessToken: String, forExchangeOf code: String
    ) async throws
    /// A new access token of the user called `name`.
    func accessToken(of name: String) async throws -> String
    /// How many sessions of the user called `name` are revoked.
    func revokedSessions(of name: String) async throws -> Int
}

extension Apple {
    /// Carries out a request without a body.
    package func control(_ name: String) async throws -> JSON { try await control(name, [:]) }
}

/// An emulator in this process.
package struct LocalApple: Apple {
    private let emulator: AppleEmulator
    /// The URL at which the backend can fetch a bait.
    private let url: String
    private let clientSecret: (@Sendable (String, Int) async throws -> String)?

    /// - Parameter clientSecret: makes the `client_secret` of a client; nil if its key is not at
    ///   hand.
    package init(
        _ emulator: AppleEmulator, url: String,
        clientSecret: (@Sendable (String, Int) async throws -> String)? = nil
    ) {
        (self.emulator, self.url, self.clientSecret) = (emulator, url, clientSecret)
    }

    package func control(_ name: String, _ body: JSON) async throws -> JSON {
        try await emulator.control(name, body)
    }

    package func issuer() async throws -> Issuer {
        Issuer(await emulator.publishedKeys, clientSecret: clientSecret) { keys, certificates in
            let paths = try await emulator.control(
                "baits", ["keys": keys, "certificates": .string(certificates)])
            return Issuer.Bait(
                keySetURL: url + (paths["jku"]?.string ?? ""),
                certificatesURL: url + (paths["x5u"]?.string ?? ""))
        }
    }

    package func prepare(
        _ idToken: String, with accessToken: String, forExchangeOf code: String
    ) async throws {
        await emulator.prepare(idToken, with: accessToken, forExchangeOf: code)
    }

    package func accessToken(of name: String) async throws -> String {
        try await emulator.accessToken(of: name)
    }

    package func revokedSessions(of name: String) async throws -> Int {
        await emulator.revokedSessions(of: name)
    }
}
