/// The kind of a request to Apple.
package enum RequestKind: Hashable, Sendable, CaseIterable {
    /// Exchange an authorization code for tokens.
    case exchange
    /// Validate a refresh token.
    case refresh
    /// Refresh a token that was just revoked, to prove that it is dead.
    case refreshAfterRevocation
    /// Revoke a token.
    case revocation
    /// Get an access token of the team, for the migration of users.
    case teamToken
    /// Fetch Apple's public keys.
    case keySet
    /// Ask for a user's transfer id, before an app moves to another team.
    case migrationExport
    /// Ask for a transferred user's new user id.
    case migrationImport
}

extension RequestKind: CustomStringConvertible {
    /// The request as messages call it, such as `the exchange`.
    package var description: String {
        switch self {
        case .exchange: "the exchange"
        case .refresh: "the refresh"
        case .refreshAfterRevocation: "the refresh after the revocation"
        case .revocation: "the revocation"
        case .teamToken: "the request for a team token"
        case .keySet: "the key set"
        case .migrationExport: "the export"
        case .migrationImport: "the import"
        }
    }
}
