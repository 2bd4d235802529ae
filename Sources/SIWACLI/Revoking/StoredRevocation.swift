internal import SIWACrypto
internal import SignInWithApple

/// `siwa revoke --user`: revokes every token that the vault has of a user. The vault notes the
/// intent before anything is sent about a token, and the outcome afterwards.
struct StoredRevocation: Sendable {
    let order: RevocationOrder
    let tokens: StoredTokens

    private var session: Session { order.session }

    /// Prints what would be sent.
    func rehearse() throws {
        try order.requests.rehearse(
            try tokens.records.flatMap { record in
                try plan(for: record).sequence(tokens.vault.token(of: record).text)
            })
    }

    /// Revokes all tokens, prints what became of them, and fails if one may still work.
    func carryOut() async throws {
        var outcomes: [TokenOutcome] = []
        for record in tokens.records { outcomes.append(await outcome(of: record)) }
        outcomes += tokens.damaged.map { TokenOutcome(damaged: $0) }
        warn(about: outcomes)
        let report = StoredRevocationReport(
            outcomes, of: tokens.user, at: session.world.clocks.now())
        try session.report(
            Report(
                .object(report.members + tokens.otherClientsMember),
                of: .revocation(isDone: report.isRevoked)))
        try report.check()
    }

    /// How a token is revoked. One that was revoked before is asked about first, and left alone if
    /// Apple refuses it.
    private func plan(for record: VaultRecord) -> RevocationOrder {
        guard record.state == .revoked, order.proof != .none else { return order }
        return RevocationOrder(
            kind: order.kind, proof: .beforeAndAfterwards, requests: order.requests)
    }

    private func outcome(of record: VaultRecord) async -> TokenOutcome {
        var outcome = TokenOutcome(record, tokens.fingerprint(of: record))
        do {
            let token = try tokens.vault.token(of: record).text
            guard record.state != .revoked || order.proof != .none else { return outcome }
            guard session.world.ending.signal == nil else { throw NotTried() }
            if record.state != .revoked { try tokens.note(.revocationBegun, of: record) }
            let revocation = try await plan(for: record).carryOut(token)
            outcome.take(revocation, at: session.world.clocks.now())
            try note(revocation, of: record)
        } catch {
            outcome.failure = Diagnosis(error)
        }
        return outcome
    }

    /// Tells the vault what became of a token. One that was revoked before keeps its state and time
    /// unless it turned out to work.
    private func note(_ revocation: Revocation, of record: VaultRecord) throws {
        if record.state == .revoked {
            guard revocation.status != nil else { return }
            try tokens.note(.revocationBegun, of: record)
        }
        guard revocation.isDead else { return }
        try tokens.note(.revoked, of: record, VaultEventDetails(revocation))
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

extension VaultEventDetails {
    /// What a revocation showed.
    init(_ revocation: Revocation) {
        self.init(
            evidence: revocation.evidence, httpStatus: revocation.answerStatus,
            appleRequestID: revocation.requestID)
    }
}
