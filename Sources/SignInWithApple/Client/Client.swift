/// Everything that makes one client of Apple's token endpoint: complete and valid.
public struct Client: Sendable {
    /// The developer team.
    public let teamID: TeamID
    /// The App ID or Services ID that speaks.
    public let clientID: ClientID
    /// What signs its secrets.
    public let signingKey: SigningKey
    /// How long a secret minted for one request lasts.
    public let secretLifetime: Duration

    /// Puts a client together.
    public init(
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
    public func mintSecret(at now: NumericDate) throws(ClientSecretError) -> ClientSecret {
        try secret(for: clientID, at: now)
    }
}
