internal import SIWACrypto
internal import SignInWithApple

// A token of the vault.
extension RevocationOrder {
    /// Revokes a stored token: the vault notes the intent before anything is sent, and the end
    /// afterwards.
    func revoke(_ stored: StoredToken) async throws {
        if stored.record.state == .revoked { return try await revoke(earlier: stored) }
        try stored.note(.revocationBegun)
        let revocation = try await carryOut(stored.token.text)
        warnIfNothingWasSent(revocation)
        // What Apple did is done, whatever becomes of the note.
        let noted = Result { if revocation.isDead { try stored.note(.revoked) } }
        try session.report(report(revocation, of: stored.token.text))
        try checkDead(revocation)
        try noted.get()
    }

    /// Looks at a token that an earlier run revoked, as far as a proof is wanted, and revokes it
    /// again only when it turns out to work.
    private func revoke(earlier stored: StoredToken) async throws {
        guard proof != .none else {
            return try report(
                earlier: stored, Revocation(status: nil, wasActive: nil, evidence: nil))
        }
        // What was revoked keeps its date, unless it turns out to work.
        if proof == .afterwards { try stored.note(.revocationBegun) }
        let revocation = try await carryOut(stored.token.text)
        guard revocation.wasActive != false else {
            return try report(earlier: stored, revocation)
        }
        let noted = Result {
            if revocation.wasActive == true { try stored.note(.revocationBegun) }
            if revocation.isDead { try stored.note(.revoked) }
        }
        try session.report(report(revocation, of: stored.token.text))
        try checkDead(revocation)
        try noted.get()
    }

    private func report(earlier stored: StoredToken, _ revocation: Revocation) throws {
        let date = stored.record.changedAt
        session.console.note("it was revoked at \(date.rfc3339); nothing was sent")
        let report = RevocationReport(
            revokedEarlier: revocation, of: stored.token, stored.record.user.clientID, at: date)
        try session.report(Report(.object(report.members)))
    }
}
