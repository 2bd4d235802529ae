package import SIWAJOSE
internal import SIWALifecycle

extension ClientSecret {
    /// The members that `siwa secret --json` prints, the secret first.
    package var members: [JSON.Member] {
        [.init("client_secret", .string(text.revealed()))] + openMembers
    }

    /// The same members without the secret.
    package var openMembers: [JSON.Member] {
        let lifetime = expiresAt - (issuedAt + ClientSecret.backdating)
        return [
            .init("kind", "client_secret"),
            .init("issued_at", .string(issuedAt.rfc3339)),
            .init("expires_at", .string(expiresAt.rfc3339)),
            .init("lifetime_seconds", .integer(Int(lifetime.components.seconds))),
            .init("team_id", .string(teamID.rawValue)),
            .init("client_id", .string(clientID.rawValue)),
            .init("key_id", .string(keyID.rawValue)),
        ]
    }
}
