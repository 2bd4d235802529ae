package import SIWAJOSE
internal import Synchronization

/// The client_secrets of a key that a signer has: kept until half of their life is over, and then
/// renewed in the background.
///
/// The signer is asked once for a client, whoever waits. A call that leaves, because its time is over,
/// ends nothing for the others.
package final class SignerSecrets: ClientSecretSource {
    package let clientID: ClientID
    private let teamID: TeamID
    private let key: SignerKey
    private let lifetime: Duration
    private let clocks: Clocks
    private let state = Mutex<[String: State]>([:])
    private let ended = WakeSignal()

    private struct State: Sendable {
        var secret: ClientSecret?
        var isSigning = false
        var failure: ClientSecretError?
    }

    package init(
        _ key: SignerKey, teamID: TeamID, clientID: ClientID, lifetime: Duration = .seconds(3600),
        clocks: Clocks
    ) {
        (self.key, self.teamID, self.clientID) = (key, teamID, clientID)
        (self.lifetime, self.clocks) = (lifetime, clocks)
    }

    /// From then on, ``prepare(for:until:)`` has a newer one signed.
    package var renewalMargin: Duration { lifetime / 2 }

    package func secret(
        for clientID: ClientID, at now: NumericDate
    ) throws(ClientSecretError) -> ClientSecret {
        let state = state.withLock { $0[clientID.rawValue] ?? State() }
        if let secret = state.secret, secret.isValid(at: now, for: .zero) { return secret }
        throw state.failure
            ?? .signer(SignerFailure("the signer did not answer in time", isTemporary: true))
    }

    package func prepare(
        for clientID: ClientID, until deadline: Deadline
    ) async throws(ClientSecretError) {
        var seen = ended.count
        if isToAsk(for: clientID) { sign(for: clientID) }
        while isWaiting(for: clientID), deadline.remaining > .zero, !Task.isCancelled {
            await ended.wait(after: seen, atMost: deadline.remaining, by: clocks.timekeeper)
            seen = ended.count
        }
        _ = try secret(for: clientID, at: clocks.now())
    }

    /// Whether this call is the one that asks the signer.
    private func isToAsk(for clientID: ClientID) -> Bool {
        let now = clocks.now()
        return state.withLock { states in
            let state = states[clientID.rawValue] ?? State()
            guard !state.isSigning, state.secret?.isValid(at: now, for: lifetime / 2) != true else {
                return false
            }
            states[clientID.rawValue] = State(secret: state.secret, isSigning: true)
            return true
        }
    }

    private func isWaiting(for clientID: ClientID) -> Bool {
        let now = clocks.now()
        return state.withLock { states in
            guard let state = states[clientID.rawValue] else { return false }
            return state.isSigning && state.secret?.isValid(at: now, for: .zero) != true
        }
    }

    private func sign(for clientID: ClientID) {
        Task { [self] in
            let result: Result<ClientSecret, ClientSecretError>
            do throws(ClientSecretError) {
                result = .success(
                    try await .signed(
                        by: key, for: clientID, of: teamID, lifetime: lifetime, clocks: clocks))
            } catch {
                result = .failure(error)
            }
            state.withLock { states in
                switch result {
                case .success(let secret): states[clientID.rawValue] = State(secret: secret)
                case .failure(let error):
                    states[clientID.rawValue]?.isSigning = false
                    states[clientID.rawValue]?.failure = error
                }
            }
            ended.notify()
        }
    }
}
