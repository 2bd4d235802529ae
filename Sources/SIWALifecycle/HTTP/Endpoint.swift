/// Apple's endpoints, hard-coded because the discovery document has had wrong ones (June 2025).
package enum Endpoint: String, Sendable, CaseIterable {
    /// Exchanges and refreshes tokens.
    case token = "/auth/token"
    /// Revokes tokens.
    case revoke = "/auth/revoke"
    /// Converts the ids of users when an app moves to another team.
    case userMigration = "/auth/usermigrationinfo"
    /// The keys that sign identity tokens, as a JWK Set.
    case keys = "/auth/keys"
    /// The page on which a user signs in: for a browser, never for siwa itself.
    case authorize = "/auth/authorize"
}
