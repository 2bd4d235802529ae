package import SIWAJOSE
package import SIWALifecycle

/// The revocation of one stored token. The vault notes the intent before anything is sent, and the
/// outcome afterwards.
///
/// A token that was revoked before is refreshed first, and not revoked again if Apple refuses it.
package struct VaultRevocation: Sendable {
    /// The decrypted refresh token.
    package let token: SecretText
    /// The proof to obtain.
    package let proof: Revocation.Proof
    private let look: TokenLook
    private let vault: Vault
    private let record: VaultRecord

    /// Decrypts the token. Nil if no request is needed: the token was revoked before, and no proof
    /// is requested.
    ///
    /// - Throws: ``StoreError``, which names the record, if it cannot be decrypted, or is not a token of
    ///   Apple's.
    package init?(
        of record: VaultRecord, in vault: Vault, proof: Revocation.Proof
    ) throws(StoreError) {
        let stored = try vault.token(of: record)
        (token, look) = (stored.text, record.look(of: stored))
        let isRepeated = record.state == .revoked
        guard !isRepeated || proof != .none else { return nil }
        self.proof = isRepeated ? .beforeAndAfterwards : proof
        (self.vault, self.record) = (vault, record)
    }

    /// Records the intent.
    package func begin(at now: NumericDate) throws(StoreError) {
        if record.state != .revoked { try note(.revocationBegun, at: now) }
    }

    /// What is believed of the outcome.
    package func judged(_ revocation: Revocation) -> Revocation {
        var revocation = revocation
        revocation.isUnusual = look.isUnusual
        return revocation
    }

    /// Records the outcome. A token that was revoked before keeps its state and time unless it
    /// turned out to work.
    package func end(_ revocation: Revocation, at now: NumericDate) throws(StoreError) {
        if record.state == .revoked {
            guard revocation.status != nil else { return }
            try note(.revocationBegun, at: now)
        }
        guard revocation.isDead else { return }
        try note(.revoked, VaultEventDetails(revocation), at: now)
    }

    private func note(
        _ event: VaultEvent, _ details: VaultEventDetails = VaultEventDetails(),
        at now: NumericDate
    ) throws(StoreError) {
        try vault.note([VaultNote(record, event, details)], at: now)
    }
}

extension VaultRecord {
    /// How the text of its token looks. One that Apple has accepted is a token, whatever its shape.
    package func look(of token: RefreshToken) -> TokenLook {
        guard state != .active || checkedAt == nil else { return .usual }
        return (try? judgeRevocable(token.text, as: .refreshToken)) ?? .unusual(nil)
    }
}
