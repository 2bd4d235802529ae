package import SIWAJOSE

/// A client of Apple's token endpoint: its team, client id, key and secret lifetime, all valid.
package struct Client: Sendable {
    /// The developer team.
    package let teamID: TeamID
    /// The App ID or Services ID.
    package let clientID: ClientID
    /// The key that signs its secrets.
    package let signingKey: SigningKey
    /// The lifetime of a secret that is minted for one request.
    package let secretLifetime: Duration

    /// Creates a client.
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
