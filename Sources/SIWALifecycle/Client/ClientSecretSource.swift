package import SIWAJOSE

/// Where the client_secrets of requests come from: the key of a ``Client`` signs them, a
/// ``GivenClientSecret`` was minted on another machine.
package protocol ClientSecretSource: Sendable {
    /// The client of every request that names no other.
    var clientID: ClientID { get }

    /// How long before its expiry a cached secret is replaced.
    var renewalMargin: Duration { get }

    /// A secret of `clientID` that is valid at `now`, if it takes no waiting; nil if
    /// ``newSecret(for:at:timekeeper:)`` has to be awaited.
    ///
    /// - Throws: ``ClientSecretError``.
    func secretAtOnce(
        for clientID: ClientID, at now: NumericDate
    ) throws(ClientSecretError) -> ClientSecret?

    /// A secret of `clientID` that is valid at `now`, for which a signer may have to be awaited.
    ///
    /// - Throws: ``ClientSecretError``.
    func newSecret(
        for clientID: ClientID, at now: NumericDate, timekeeper: Timekeeper
    ) async throws(ClientSecretError) -> ClientSecret
}

extension Client: ClientSecretSource {
    package var renewalMargin: Duration { secretLifetime / 2 }

    /// Mints a secret of any client of the team.
    package func secretAtOnce(
        for clientID: ClientID, at now: NumericDate
    ) throws(ClientSecretError) -> ClientSecret? {
        try UnsignedClientSecret(
            by: signingKey.id, for: clientID, of: teamID, at: now, lifetime: secretLifetime
        ).signedAtOnce(by: signingKey)
    }

    /// Mints a secret of any client of the team.
    package func newSecret(
        for clientID: ClientID, at now: NumericDate, timekeeper: Timekeeper
    ) async throws(ClientSecretError) -> ClientSecret {
        try await .signed(
            by: signingKey, for: clientID, of: teamID, at: now, lifetime: secretLifetime,
            timekeeper: timekeeper)
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
    package func secretAtOnce(
        for clientID: ClientID, at now: NumericDate
    ) throws(ClientSecretError) -> ClientSecret? {
        try secret(for: clientID, at: now)
    }

    /// The secret, or a newer one once it has expired.
    package func newSecret(
        for clientID: ClientID, at now: NumericDate, timekeeper: Timekeeper
    ) async throws(ClientSecretError) -> ClientSecret {
        try secret(for: clientID, at: now)
    }

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
