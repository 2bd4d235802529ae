import SIWAApplication
internal import SIWAJOSE
import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords
internal import Synchronization

/// Refreshes tokens for callers of the API. Requests about one token share a request to Apple.
final class RefreshService: Sendable {
    private let access: StoreAccess
    private let vault: SharedVault
    private let clients: @Sendable () -> ProfileClients
    private let clocks: Clocks
    private let log: ServiceLog
    private let running = JoinedCalls<LastAnswers.Key, Result<TokenResponse, Diagnosis>>()
    private let lastAnswers = Mutex(LastAnswers())
    private let refusals = Mutex(RecentRefusals())

    /// Above this percentage of refused tokens, refusals do not change the vault.
    private static let mostRefused = 50

    /// - Parameter clients: returns the clients of the current settings.
    init(
        _ access: StoreAccess, _ vault: SharedVault,
        clients: @escaping @Sendable () -> ProfileClients, clocks: Clocks,
        log: @escaping ServiceLog
    ) {
        (self.access, self.vault, self.clients) = (access, vault, clients)
        (self.clocks, self.log) = (clocks, log)
    }

    /// Refreshes a token, or returns a recent answer about it.
    ///
    /// - Throws: ``Diagnosis``.
    func refresh(_ input: RefreshInput) async throws(Diagnosis) -> RefreshAnswer {
        switch input.target {
        case .user(let userID, let clientID):
            return try await refresh(userID, clientID, input.maxAge)
        case .token(let token, let client):
            let key = LastAnswers.Key(
                clientID: client.clientID, fingerprint: token.text.fingerprint)
            if let known = lastAnswers.withLock({ $0[key] }),
                let cached = cached(known.isActive, known.at, input.maxAge)
            {
                return RefreshAnswer(
                    json: cached, clientID: client.clientID, fingerprint: key.fingerprint,
                    requestID: nil)
            }
            let answer = try await ask(token, client, key, noting: nil)
            return RefreshAnswer(
                json: .object(answer.members(at: clocks.now())), clientID: client.clientID,
                fingerprint: key.fingerprint, requestID: answer.requestID)
        }
    }

    /// Waits until Apple has answered every request.
    func drain() async { await running.drain() }

    private func refresh(
        _ userID: UserID, _ clientID: ClientID?, _ maxAge: Duration?
    ) async throws(Diagnosis) -> RefreshAnswer {
        let tokens = try await StoredUser(userID, clientID, clients(), access)
        guard let record = tokens.records.newest, let client = clients()[record.user.clientID]
        else {
            throw .damaged(tokens.damaged)
        }
        if let checkedAt = record.checkedAt,
            let cached = cached(record.state == .active, checkedAt, maxAge)
        {
            return RefreshAnswer(
                json: cached, clientID: client.clientID,
                fingerprint: record.id.fingerprint.rawValue, requestID: nil)
        }
        let token: RefreshToken
        do throws(StoreError) {
            token = try vault.with { vault throws(StoreError) in
                try vault.token(of: record)
            }
        } catch {
            throw Diagnosis(error)
        }
        let key = LastAnswers.Key(
            clientID: client.clientID, fingerprint: token.text.fingerprint)
        let answer = try await ask(token, client, key, noting: record)
        return RefreshAnswer(
            json: .object(
                answer.refreshMembers(of: userID, at: clocks.now())
                    + .otherClients(tokens.otherClients)),
            clientID: client.clientID, fingerprint: key.fingerprint, requestID: answer.requestID)
    }

    private func cached(_ isActive: Bool, _ at: NumericDate, _ maxAge: Duration?) -> JSON? {
        guard let maxAge, clocks.now() - at < maxAge else { return nil }
        return [
            "active": .boolean(isActive), "checked_at": .string(at.rfc3339), "cached": true,
        ]
    }
}

// Requests to Apple.
extension RefreshService {
    private func ask(
        _ token: RefreshToken, _ client: ProfileClient, _ key: LastAnswers.Key,
        noting record: VaultRecord?
    ) async throws(Diagnosis) -> TokenResponse {
        let result = await running.join(key) { () -> Result<TokenResponse, Diagnosis> in
            do throws(TokenFailure) {
                let answer = try await client.tokens().refresh(token)
                await self.take(.done(answer), key, record)
                return .success(answer)
            } catch {
                if case .refused(let refusal) = error.cause, error.cause.scope == .request {
                    await self.take(.refused(refusal), key, record)
                }
                return .failure(client.diagnosis(of: error))
            }
        }
        return try result.get()
    }

    /// Stores an answer. Refusals are not stored while too many tokens are refused: a wrong client
    /// or an outage at Apple must not mark the whole vault dead.
    private func take(
        _ outcome: ItemOutcome<TokenResponse>, _ key: LastAnswers.Key, _ record: VaultRecord?
    ) async {
        let token = LogSubject(fingerprint: key.fingerprint)
        guard !isDoubtful(outcome) else {
            return log(ServiceEvent(.warning, "refusal_not_noted", about: token))
        }
        guard let noted = NotedEvent(refresh: outcome) else { return }
        let now = clocks.now()
        guard let record else {
            let isActive = noted.event == .refreshed
            return lastAnswers.withLock { $0.note(.init(isActive: isActive, at: now), key) }
        }
        let vault = vault
        do throws(StoreError) {
            _ = try await access.run { _ throws(StoreError) in
                try vault.with { vault throws(StoreError) in
                    try vault.note([VaultNote(record, noted.event, noted.details)], at: now)
                }
            }
        } catch {
            log(ServiceEvent(.error, "answer_not_noted", error, about: token))
        }
    }

    /// Counts an answer, and returns whether it is one of too many refusals.
    private func isDoubtful(_ outcome: ItemOutcome<TokenResponse>) -> Bool {
        let isRefusal = if case .refused = outcome { true } else { false }
        return refusals.withLock { refusals in
            refusals.note(isRefusal)
            return isRefusal && refusals.areMoreThan(percent: Self.mostRefused)
        }
    }
}
