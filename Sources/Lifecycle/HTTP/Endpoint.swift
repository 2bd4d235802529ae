/// Apple's endpoints, hard-coded: the discovery document once pointed elsewhere (June 2025).
package enum Endpoint: String, Sendable, CaseIterable {
    /// Exchanges and refreshes tokens.
    case token = "/auth/token"
    /// Revokes tokens.
    case revoke = "/auth/revoke"
    /// Names users on their way from one team to another.
    case userMigration = "/auth/usermigrationinfo"
    /// The keys that sign identity tokens, as a JWK Set.
    case keys = "/auth/keys"
    /// The page on which a user signs in: for a browser, never for siwa itself.
    case authorize = "/auth/authorize"
}
