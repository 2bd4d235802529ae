internal import SIWAJOSE
internal import SIWALifecycle
internal import Synchronization

/// The key of a team, which may be replaced while requests are made, and the client secrets that it
/// signed.
final class TeamKey: Sendable {
    let teamID: TeamID
    private let clocks: Clocks
    private let minted: @Sendable (SIWALifecycle.ClientSecret) -> Void
    private let state: Mutex<State>

    private struct State: Sendable {
        let key: ClientSecretKey
        let secrets: ClientSecretCache
    }

    /// - Parameters:
    ///   - clientID: any client of the team.
    ///   - minted: called with each new secret.
    init(
        _ key: ClientSecretKey, teamID: TeamID, clientID: ClientID, clocks: Clocks,
        minted: @escaping @Sendable (SIWALifecycle.ClientSecret) -> Void
    ) {
        (self.teamID, self.clocks, self.minted) = (teamID, clocks, minted)
        state = Mutex(
            State(
                key: key,
                secrets: Self.secrets(
                    key, teamID: teamID, clientID: clientID, clocks: clocks, minted: minted)))
    }

    private static func secrets(
        _ key: ClientSecretKey, teamID: TeamID, clientID: ClientID, clocks: Clocks,
        minted: @escaping @Sendable (SIWALifecycle.ClientSecret) -> Void
    ) -> ClientSecretCache {
        switch key.place {
        case .here(let signing):
            ClientSecretCache(
                Client(teamID: teamID, clientID: clientID, signingKey: signing), minted: minted)
        case .signer(let signer):
            ClientSecretCache(
                SignerSecrets(signer, teamID: teamID, clientID: clientID, clocks: clocks),
                minted: minted)
        }
    }

    /// The secrets of requests.
    var secrets: ClientSecretCache { state.withLock { $0.secrets } }

    func replace(with key: ClientSecretKey, for clientID: ClientID) {
        let secrets = Self.secrets(
            key, teamID: teamID, clientID: clientID, clocks: clocks, minted: minted)
        state.withLock { $0 = State(key: key, secrets: secrets) }
    }

    /// Signs a new secret.
    func secret(
        for clientID: ClientID, lifetime: Duration
    ) async throws(ClientSecretError) -> SIWALifecycle.ClientSecret {
        switch state.withLock({ $0.key }).place {
        case .here(let key):
            try SIWALifecycle.ClientSecret(
                signedBy: key, for: clientID, of: teamID, at: clocks.now(), lifetime: lifetime)
        case .signer(let key):
            try await .signed(
                by: key, for: clientID, of: teamID, lifetime: lifetime, clocks: clocks)
        }
    }
}
