package import JOSE

/// A client of Apple's token endpoint: its team, client id, key and secret lifetime, all valid.
package struct Client: Sendable {
    /// The developer team.
    package let teamID: TeamID
    /// The App ID or Services ID.
    package let clientID: ClientID
    /// What signs its secrets.
    package let signingKey: SigningKey
    /// How long a secret minted for one request lasts.
    package let secretLifetime: Duration

    /// Puts a client together.
    package init(
        teamID: TeamID, clientID: ClientID, signingKey: SigningKey,
        secretLifetime: Duration = .seconds(300)
    ) {
        self.teamID = teamID
        self.clientID = clientID
        self.signingKey = signingKey
        self.secretLifetime = secretLifetime
    }

    /// Mints a secret of this client.
    ///
    /// - Throws: ``ClientSecretError``.
    package func mintSecret(at now: NumericDate) throws(ClientSecretError) -> ClientSecret {
        try secret(for: clientID, at: now)
    }
}
