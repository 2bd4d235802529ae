import SIWAApplication
internal import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
internal import SIWAVaultRecords

/// Accepts requests to revoke. A request is stored before anything is sent to Apple, and is carried
/// out even if its caller disconnects.
final class RevocationService: Sendable {
    private let access: StoreAccess
    private let vault: SharedVault
    private let worker: RevocationWorker
    private let clients: @Sendable () -> ProfileClients
    private let clocks: Clocks

    /// The answer to a request.
    enum Reply: Sendable {
        /// The request has ended: the object that `siwa revoke` prints.
        case ended(JSON)
        /// The request has not ended; it can be polled by its id.
        case pending(RevocationStatus)
    }

    /// - Parameter worker: carries out the requests.
    init(
        _ access: StoreAccess, _ vault: SharedVault, _ worker: RevocationWorker,
        clients: @escaping @Sendable () -> ProfileClients, clocks: Clocks
    ) {
        (self.access, self.vault, self.worker) = (access, vault, worker)
        (self.clients, self.clocks) = (clients, clocks)
    }

    /// Stores a request to revoke, and waits for its end as long as the caller does.
    ///
    /// - Throws: ``Diagnosis`` if nothing was stored, or if a code yielded no token.
    func revoke(_ input: RevocationInput) async throws(Diagnosis) -> Reply {
        do {
            switch input.target {
            case .user(let userID, let clientID):
                return try await revoke(userID, clientID, input)
            case .token(let token, let client):
                let look = (try? judgeRevocable(token.text, as: .refreshToken)) ?? .unusual(nil)
                return try await store(
                    [
                        Secret(
                            text: token.text, kind: .refreshToken, clientID: client.clientID,
                            look: look)
                    ], input)
            case .code(let code, let client):
                return try await store(
                    [Secret(text: code.text, kind: .code, clientID: client.clientID)], input)
            }
        } catch {
            throw Diagnosis(error)
        }
    }

    /// Returns the state of a request.
    ///
    /// - Throws: ``Diagnosis`` if the request does not exist.
    func status(_ id: String) async throws(Diagnosis) -> RevocationStatus {
        do throws(StoreError) {
            if let status = try await read(id) { return status }
        } catch {
            throw Diagnosis(error)
        }
        throw .notFound("no revocation has this id")
    }

    private func read(_ id: String) async throws(StoreError) -> RevocationStatus? {
        try await access.run { store throws(StoreError) in try store.revocation(id) }
    }

    private struct Secret {
        let text: SecretText
        let kind: RevocationJob.Kind
        let clientID: ClientID
        var userID: UserID?
        var look = TokenLook.usual
    }
}

// Storing a request as jobs.
extension RevocationService {
    private func revoke(
        _ userID: UserID, _ clientID: ClientID?, _ input: RevocationInput
    ) async throws -> Reply {
        if let clientID { _ = try clients().client(clientID) }
        try await worker.journal.writes.storeTokens(of: userID)
        let page = try await access.allTokens(of: userID, clients())
        let records = page.records.filter { clientID == nil || $0.user.clientID == clientID }
        let damaged = page.damaged.filter { row in
            clientID.map { row.key.clientID == Array($0.rawValue.utf8) } ?? true
        }
        let live = records.filter { $0.state != .revoked }
        guard !live.isEmpty else {
            guard damaged.isEmpty else { throw Diagnosis.damaged(damaged) }
            return .ended(try await recorded(userID, clientID, page, records))
        }
        let (secrets, failures) = sendable(live)
        let failure = damaged.isEmpty ? failures.first : Diagnosis.damaged(damaged)
        if secrets.isEmpty, let failure { throw failure }
        let reply = try await store(secrets, input, of: userID, clientID)
        // Unreadable rows and tokens do not stop the revocation of the others.
        if let failure { throw failure }
        return reply
    }

    /// The tokens of records, and the errors of those that cannot be decrypted.
    private func sendable(_ records: [VaultRecord]) -> ([Secret], [Diagnosis]) {
        var (secrets, failures): ([Secret], [Diagnosis]) = ([], [])
        for record in records {
            do throws(StoreError) {
                let token = try vault.with { vault throws(StoreError) in
                    try vault.token(of: record)
                }
                secrets.append(
                    Secret(
                        text: token.text, kind: .refreshToken, clientID: record.user.clientID,
                        userID: record.user.userID, look: record.look(of: token)))
            } catch {
                failures.append(Diagnosis(error))
            }
        }
        return (secrets, failures)
    }

    private func store(
        _ secrets: [Secret], _ input: RevocationInput, of userID: UserID? = nil,
        _ clientID: ClientID? = nil
    ) async throws -> Reply {
        let (vault, now, clients) = (vault, clocks.now(), clients())
        let named = userID == nil ? secrets.first?.clientID : clientID
        let request = RevocationRequest(
            id: try Random.bytes(16).hexadecimal, clientID: named, userID: userID,
            requestedAt: now)
        let status = try await access.run { store throws(StoreError) in
            var jobs: [RevocationJob] = []
            for secret in secrets {
                var job = try vault.sealing { vault throws(StoreError) in
                    try RevocationJob.sealing(
                        secret.text, secret.kind, of: secret.clientID, secret.userID, input.proof,
                        in: vault, at: now)
                }
                job.isUnusual = secret.look.isUnusual
                if clients[secret.clientID] == nil {
                    job.lastError = RevocationJob.Failure(.withoutProfile(secret.clientID))
                }
                jobs.append(job)
            }
            return try store.add(request, jobs)
        }
        return try await wait(for: status, input.maxWait)
    }

    private func wait(
        for status: RevocationStatus, _ maxWait: Duration
    ) async throws -> Reply {
        var status = status
        let deadline = Deadline(after: maxWait, by: clocks.timekeeper)
        var count = worker.progress.count
        worker.start(status.request.id)
        while status.canEndSoon(clients()), deadline.remaining > .zero, !Task.isCancelled {
            await worker.progress.wait(
                after: count, atMost: min(deadline.remaining, .seconds(1)))
            count = worker.progress.count
            guard let now = try? await read(status.request.id) else { continue }
            status = now
        }
        if status.state == .pending { status = try await promised(status) }
        guard status.state != .pending else { return .pending(status) }
        if let failure = status.codeFailure(clients()) { throw failure }
        return .ended(.object(status.revokeMembers))
    }
}

// Requests that have not ended when they are answered.
extension RevocationService {
    /// Notes that the caller is told to poll a request.
    ///
    /// - Returns: its current state.
    private func promised(
        _ status: RevocationStatus
    ) async throws(StoreError) -> RevocationStatus {
        try await access.run { store throws(StoreError) in
            try store.promise(revocation: status.request.id)
        } ?? status
    }
}

extension RevocationStatus {
    /// Whether it is worth waiting for the end: a client without a profile gets none soon.
    fileprivate func canEndSoon(_ clients: ProfileClients) -> Bool {
        jobs.contains { $0.state == .pending && clients[$0.clientID] != nil }
    }
}

// Earlier revocations.
extension RevocationService {
    /// What is on record about a user without live tokens.
    ///
    /// - Parameters:
    ///   - page: all records of the user.
    ///   - records: those of the client that the caller named, or all.
    private func recorded(
        _ userID: UserID, _ clientID: ClientID?, _ page: VaultPage, _ records: [VaultRecord]
    ) async throws -> JSON {
        let history = try await access.run { store throws(StoreError) in
            try store.vault.history(of: userID, clientID: clientID)
        }
        let tokens = RecordedTokens(history.entries, records)
        guard let last = tokens.lastChange else {
            if let error = history.damaged.first { throw Diagnosis(error) }
            let others = Set(page.records.map(\.user.clientID.rawValue)).sorted()
            throw Diagnosis.notFound(
                clientID.map { "the vault never had a token of '\(userID)' of client_id \($0)" }
                    ?? "the vault never had a token of '\(userID)'",
                hints: others.map { "it has a token of client_id \($0)" }, naming: userID)
        }
        return .object(StoredRevocationReport(tokens.outcomes, of: userID, at: last).members)
    }
}
