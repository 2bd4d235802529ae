internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// `siwa revoke --user`: revokes every token that the vault has of a user. The vault records the
/// intent before a request is sent, and the outcome afterwards.
struct StoredRevocation: Sendable {
    let order: RevocationOrder
    let tokens: StoredTokens

    private var session: Session { order.session }

    /// Prints the requests for a dry run.
    func dryRun() async throws {
        try await order.requests.dryRun(
            try tokens.records.flatMap { record in
                try revocation(of: record).map { order.proving($0.proof).sequence($0.token) } ?? []
            })
    }

    /// Revokes all tokens, prints the results, and fails if a token may still work.
    func carryOut() async throws {
        var outcomes: [TokenOutcome] = []
        for record in tokens.records { outcomes.append(await outcome(of: record)) }
        outcomes += tokens.damaged.map { TokenOutcome(damaged: $0, of: tokens.user.clientID) }
        for index in outcomes.indices {
            outcomes[index].failure = outcomes[index].failure.map { session.world.words.shown($0) }
        }
        warn(about: outcomes)
        let report = StoredRevocationReport(
            outcomes, of: tokens.user.userID, at: session.world.clocks.now())
        try session.report(
            Report(
                .object(report.members + tokens.otherClientsMember),
                of: .revocation(isDone: report.isRevoked)))
        try report.check()
    }

    private func outcome(of record: VaultRecord) async -> TokenOutcome {
        var outcome = TokenOutcome(record)
        let clocks = session.world.clocks
        do {
            guard let stored = try revocation(of: record) else { return outcome }
            guard session.world.ending.signal == nil else { throw Diagnosis.notTried }
            try stored.begin(at: clocks.now())
            let revocation = stored.judged(
                try await order.proving(stored.proof).carryOut(stored.token))
            outcome.take(revocation, at: clocks.now())
            try stored.end(revocation, at: clocks.now())
        } catch {
            outcome.failure = Diagnosis(error)
        }
        return outcome
    }

    private func revocation(of record: VaultRecord) throws(StoreError) -> VaultRevocation? {
        try VaultRevocation(of: record, in: tokens.vault, proof: order.proof)
    }

    private func warn(about outcomes: [TokenOutcome]) {
        let dead = outcomes.count { $0.isDeadUnexpectedly }
        if dead > 0 {
            session.console.warn(
                "nothing was sent about \(dead == 1 ? "a token" : "\(dead) tokens"): Apple refuses "
                    + "it already, or it belongs to another client; check --client-id and --profile"
            )
        }
        for outcome in outcomes where outcome.revocation?.status == nil && outcome.isRevokedEarlier
        {
            session.console.note(
                "a token was revoked at \(outcome.date.rfc3339); no revocation was sent for it now")
        }
    }
}
