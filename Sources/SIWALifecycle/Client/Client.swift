package import SIWAJOSE

/// A client of Apple's token endpoint: its team, client id, key and secret lifetime, all valid.
package struct Client: Sendable {
    /// The developer team.
    package let teamID: TeamID
    /// The App ID or Services ID.
    package let clientID: ClientID
    /// The key that signs its secrets.
    package var signingKey: SigningKey
    /// The lifetime of a secret that is minted for one request.
    package var secretLifetime: Duration

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

    /// Mints a secret of this client, which may mean to wait for a signer.
    ///
    /// - Parameter lifetime: nil for that of a secret for one request.
    /// - Throws: ``ClientSecretError``.
    package func mintSecret(
        at now: NumericDate, lifetime: Duration? = nil, timekeeper: Timekeeper = .system
    ) async throws(ClientSecretError) -> ClientSecret {
        try await .signed(
            by: signingKey, for: clientID, of: teamID, at: now,
            lifetime: lifetime ?? secretLifetime, timekeeper: timekeeper)
    }

    /// A text that is like a secret of this client in all but its signature, for examining its
    /// claims. It is never sent.
    ///
    /// - Throws: ``ClientSecretError``.
    package func draftSecret(at now: NumericDate) throws(ClientSecretError) -> SecretText {
        try UnsignedClientSecret(
            by: signingKey.id, for: clientID, of: teamID, at: now, lifetime: secretLifetime
        ).withoutSignature
    }
}
