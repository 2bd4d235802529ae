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
        let client = Client(
            teamID: teamID, clientID: clientID, signingKey: key.signing,
            secretLifetime: key.signing.signer.isAtOnce ? .seconds(300) : .seconds(3600))
        return ClientSecretCache(client, timekeeper: clocks.timekeeper, minted: minted)
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
        let key = state.withLock { $0.key }.signing
        return try await .signed(
            by: key, for: clientID, of: teamID, at: clocks.now(), lifetime: lifetime,
            timekeeper: clocks.timekeeper)
    }
}
