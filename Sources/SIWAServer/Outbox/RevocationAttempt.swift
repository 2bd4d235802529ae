internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

/// One attempt of a revocation job that this process has leased.
struct RevocationAttempt: Sendable {
    private(set) var job: RevocationJob
    private let age: Duration
    private let client: ProfileClient
    private let worker: RevocationWorker

    init(
        _ job: RevocationJob, age: Duration, for client: ProfileClient, by worker: RevocationWorker
    ) {
        (self.job, self.age, self.client, self.worker) = (job, age, client, worker)
    }

    /// Why an attempt ends before the job does.
    enum Interruption: Error {
        /// Another process has leased the job, or another job has its token.
        case lost
        /// The attempt failed.
        case failed(Diagnosis)
        /// Another request is sending the same code.
        case codeInUse
    }

    /// Sends the remaining requests, and stores each result before the next request.
    mutating func carryOut() async throws(Interruption) {
        if job.kind == .code {
            try await exchange()
            guard job.state == .pending else { return try await note(after: nil) }
        }
        let token = try await openToken()
        if job.progress.isEmpty { try await noteInVault(.revocationBegun) }
        let kind: TokenKind = job.kind == .accessToken ? .accessToken : .refreshToken
        let tokens = client.tokens(maxAttempts: 1)
        var proof = RevocationProof(job.proof, after: job.progress)
        while true {
            let revocation = try await advance(&proof, token, kind, tokens)
            if let revocation { return try await end(revocation) }
            job.progress = proof.progress
            try await note(after: nil)
        }
    }

    private func open() throws(Interruption) -> SecretText? {
        do throws(StoreError) {
            return try worker.vault.with { vault throws(StoreError) in
                try job.opened(in: vault)
            }
        } catch {
            throw .failed(Diagnosis(error))
        }
    }

    /// The job's token. One that cannot be opened is replaced by the vault's: it may be encrypted
    /// with a key that was removed after the vault's tokens had been encrypted with a newer one.
    private mutating func openToken() async throws(Interruption) -> SecretText {
        let failure: Interruption
        do throws(Interruption) {
            if let token = try open() { return token }
            failure = .failed(Diagnosis(StoreError(.damaged, "the job has no token")))
        } catch {
            failure = error
        }
        guard job.kind == .refreshToken, let token = try await tokenInVault() else { throw failure }
        return token
    }

    /// The same token from the vault, which the job keeps from now on; nil if the vault cannot
    /// provide it.
    private mutating func tokenInVault() async throws(Interruption) -> SecretText? {
        let wanted = job
        let record: VaultRecord?
        do throws(StoreError) {
            record = try await worker.access.run { store throws(StoreError) in
                try store.vault.record(of: wanted)
            }
        } catch {
            throw .failed(Diagnosis(error))
        }
        guard let record else { return nil }
        let vault = worker.vault
        var next = job
        let token = try? vault.with { vault throws(StoreError) in
            let token = try vault.token(of: record)
            try next.take(token, of: nil, in: vault)
            return token
        }
        guard let token else { return nil }
        job = next
        try await note(after: nil)
        return token.text
    }

    private func advance(
        _ proof: inout RevocationProof, _ token: SecretText, _ kind: TokenKind,
        _ tokens: TokenClient
    ) async throws(Interruption) -> Revocation? {
        do throws(TokenFailure) {
            return try await tokens.advance(&proof, token, as: kind)
        } catch {
            throw .failed(client.diagnosis(of: error))
        }
    }

    private mutating func end(_ revocation: Revocation) async throws(Interruption) {
        guard job.end(revocation, at: worker.clocks.now()) else {
            throw .failed(
                Diagnosis(
                    .notRevoked,
                    "Apple answered \(revocation.status ?? 0), but the token still works",
                    hints: [], exitCode: .no, requestID: revocation.requestID))
        }
        // The vault is changed first: after a crash in between, the job runs again, which is
        // harmless.
        var revocation = revocation
        revocation.isUnusual = job.isUnusual
        if let noted = NotedEvent(revocation) {
            try await noteInVault(noted.event, noted.details)
        }
        try await note(after: nil)
    }

    /// Notes that the attempt failed, and schedules the next one.
    mutating func fail(_ diagnosis: Diagnosis) async throws(Interruption) {
        let delay = job.fail(diagnosis, age: age, at: worker.clocks.now())
        try await note(after: delay)
    }

    /// Waits for another request that is sending the same code.
    func wait() async throws(Interruption) { try await note(after: .seconds(1)) }

    private func note(after delay: Duration?) async throws(Interruption) {
        try await worker.note(job, after: delay)
    }

    /// Notes the revocation in the vault, if the token is stored there.
    private func noteInVault(
        _ event: VaultEvent, _ details: VaultEventDetails = VaultEventDetails()
    ) async throws(Interruption) {
        let (job, vault, now) = (job, worker.vault, worker.clocks.now())
        do throws(StoreError) {
            try await worker.access.run { store throws(StoreError) in
                guard let record = try store.vault.record(of: job) else { return }
                try vault.with { vault throws(StoreError) in
                    _ = try vault.note([VaultNote(record, event, details)], at: now)
                }
            }
        } catch {
            throw .failed(Diagnosis(error))
        }
    }
}

extension VaultStore {
    /// The record of a job's token; nil if the vault has none. An app transfer may have given its
    /// user another id since the job was requested.
    fileprivate func record(of job: RevocationJob) throws(StoreError) -> VaultRecord? {
        guard let userID = job.userID else { return nil }
        let named = try record(of: job.fingerprint, job.clientID, [userID])
        if let named { return named }
        return try record(of: job.fingerprint, job.clientID, ids(of: userID))
    }

    private func record(
        of fingerprint: TokenFingerprint, _ clientID: ClientID, _ ids: Set<UserID>
    ) throws(StoreError) -> VaultRecord? {
        let users = ids.map { VaultUser(clientID, $0) }
        return try records(of: users.sorted()).records.first { $0.id.fingerprint == fingerprint }
    }
}

// A code is exchanged once, using the journal, before its token is revoked.
extension RevocationAttempt {
    private mutating func exchange() async throws(Interruption) {
        guard let text = try open() else {
            throw .failed(Diagnosis(StoreError(.damaged, "the job has no code")))
        }
        let input = ExchangeInput(
            AuthorizationCode(text), for: client, isClientGiven: true, isForRevocation: true)
        let request: CodeRequest
        let decision: CodeDecision
        do throws(StoreError) {
            request = try input.request
            decision = try await worker.journal.begin(request)
        } catch {
            throw .failed(Diagnosis(error))
        }
        switch decision {
        case .send:
            worker.codes.begin()
            defer { worker.codes.end() }
            try await send(input, request)
        case .wait: throw .codeInUse
        case .replay(let sealed, let clientID):
            try await use(try? worker.journal.open(sealed, request.code, of: clientID))
        case .conflict, .alreadySent, .mayBeSpent: job.loseCode(at: worker.clocks.now())
        }
    }

    /// Uses the answer to an earlier request with the same code.
    private mutating func use(_ answer: ExchangeAnswer?) async throws(Interruption) {
        if let token = answer?.refreshToken {
            try await take(token, of: answer?.userID)
            try await note(after: nil)
        } else if case .failure(let refusal)? = answer?.result, refusal.apple != nil {
            refuse(refusal)
        } else {
            job.loseCode(at: worker.clocks.now())
        }
    }

    private mutating func send(
        _ input: ExchangeInput, _ request: CodeRequest
    ) async throws(Interruption) {
        let response: TokenResponse
        do throws(TokenFailure) {
            response = try await client.tokens(maxAttempts: 1).exchange(
                input.code, redirectURI: input.sentRedirectURI)
        } catch {
            return try await conclude(error, input, request)
        }
        if let token = response.refreshToken, (try? validateOpaqueToken(token.text)) != nil {
            try await take(token, of: nil)
        } else {
            try await take(RefreshToken(response.accessToken.text), of: nil)
            (job.kind, job.proof) = (.accessToken, .none)
        }
        let isNoted = await worker.keepToken(job)
        await worker.journal.finish(request, ExchangeAnswer.refused(.codeRevoked))
        guard isNoted else { throw .lost }
    }

    private mutating func conclude(
        _ failure: TokenFailure, _ input: ExchangeInput, _ request: CodeRequest
    ) async throws(Interruption) {
        let diagnosis = input.diagnosis(of: failure)
        if failure.isOutcomeUnknown {
            await worker.journal.finish(request, .unanswered)
            return job.loseCode(at: worker.clocks.now())
        }
        guard case .refused = failure.cause else {
            await worker.journal.finish(request, .notSent)
            throw .failed(diagnosis)
        }
        await worker.journal.finish(request, ExchangeAnswer.refused(diagnosis))
        refuse(diagnosis)
    }

    private mutating func refuse(_ diagnosis: Diagnosis) {
        job.refuseCode(
            RevocationJob.Failure(diagnosis), isDead: diagnosis.exitCode == .clientRefused,
            at: worker.clocks.now())
    }

    private mutating func take(
        _ token: RefreshToken, of userID: UserID?
    ) async throws(Interruption) {
        let vault = worker.vault
        var next = job
        do throws(StoreError) {
            try vault.with { vault throws(StoreError) in
                try next.take(token, of: userID, in: vault)
            }
        } catch {
            throw .failed(Diagnosis(error))
        }
        job = next
    }
}

extension RevocationJob {
    /// Notes a failed attempt; see ``fail(_:age:retryAfter:jitter:at:)``.
    mutating func fail(_ diagnosis: Diagnosis, age: Duration, at now: NumericDate) -> Duration? {
        fail(
            Failure(diagnosis), age: age, retryAfter: diagnosis.retryAfter,
            jitter: .random(in: 0..<1), at: now)
    }
}

extension RevocationJob.Failure {
    init(_ diagnosis: Diagnosis) { self.init(diagnosis.code, diagnosis.message) }
}

extension Diagnosis {
    /// The code of an exchange was used by a revocation.
    static let codeRevoked = Diagnosis(
        .codeAlreadySent, "the code was exchanged in order to revoke its tokens",
        hints: ["ask the user to sign in again, and use the new code"], exitCode: .grantRefused,
        apiStatus: .conflict)
}
