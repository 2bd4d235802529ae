package import SIWAJOSE

/// Where the client_secrets of requests come from: a ``Client`` mints them, a
/// ``GivenClientSecret`` was minted on another machine.
package protocol ClientSecretSource: Sendable {
    /// The client of every request that names no other.
    var clientID: ClientID { get }

    /// How long before its expiry a cached secret is replaced.
    var renewalMargin: Duration { get }

    /// A secret of `clientID` that is valid at `now`.
    ///
    /// - Throws: ``ClientSecretError``.
    func secret(
        for clientID: ClientID, at now: NumericDate
    ) throws(ClientSecretError) -> ClientSecret

    /// Gets ready to give a secret of `clientID`, which may mean to ask a signer; called before each
    /// attempt at a request.
    ///
    /// - Throws: ``ClientSecretError``, also if there is none at the deadline.
    func prepare(for clientID: ClientID, until deadline: Deadline) async throws(ClientSecretError)
}

extension ClientSecretSource {
    /// A key on this machine needs no preparation.
    package func prepare(
        for clientID: ClientID, until deadline: Deadline
    ) async throws(ClientSecretError) {}
}

extension Client: ClientSecretSource {
    /// Half of a short lifetime; a minute of a long one, for requests that wait and for clock skew.
    package var renewalMargin: Duration { min(secretLifetime / 2, .seconds(60)) }

    /// Mints a secret of any client of the team.
    package func secret(
        for clientID: ClientID, at now: NumericDate
    ) throws(ClientSecretError) -> ClientSecret {
        try ClientSecret(
            signedBy: signingKey, for: clientID, of: teamID, at: now, lifetime: secretLifetime)
    }
}

/// A client_secret that was minted elsewhere, for a machine that does not hold the private key.
package struct GivenClientSecret: ClientSecretSource {
    /// The secret as it was first read.
    package let secret: ClientSecret
    private let readAgain: (@Sendable (NumericDate) throws(ClientSecretError) -> ClientSecret)?

    /// Creates the source from a secret that was examined.
    ///
    /// - Parameter readAgain: returns a newer secret when the last one has expired; nil if there is
    ///   no other.
    package init(
        _ secret: ClientSecret,
        readAgain: (@Sendable (NumericDate) throws(ClientSecretError) -> ClientSecret)? = nil
    ) {
        (self.secret, self.readAgain) = (secret, readAgain)
    }

    /// The client that the secret is for (`sub`).
    package var clientID: ClientID { secret.clientID }

    /// Zero, because there may be no newer secret before this one has expired.
    package var renewalMargin: Duration { .zero }

    /// The secret, or a newer one once it has expired.
    package func secret(
        for clientID: ClientID, at now: NumericDate
    ) throws(ClientSecretError) -> ClientSecret {
        guard clientID == self.clientID else { throw .otherClient(clientID) }
        if secret.expiresAt > now { return secret }
        guard let newer = try readAgain?(now), newer.expiresAt > now else {
            throw .expired(secret.expiresAt)
        }
        return newer
    }
}
