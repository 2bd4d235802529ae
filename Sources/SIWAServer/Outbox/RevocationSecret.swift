internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

// The token or code of a job, which the outbox stores sealed.
extension RevocationJob {
    /// Creates a job with a sealed token or code.
    static func sealing(
        _ secret: SecretText, _ kind: Kind, of clientID: ClientID, _ userID: UserID?,
        _ proof: Revocation.Proof,
        in vault: Vault, at now: NumericDate
    ) throws(StoreError) -> RevocationJob {
        let fingerprint = try TokenFingerprint(of: RefreshToken(secret))
        return RevocationJob(
            number: 0, clientID: clientID, userID: userID, fingerprint: fingerprint, kind: kind,
            proof: proof, createdAt: now,
            secret: try vault.seal(secret.bytes, for: place(of: fingerprint, clientID)))
    }

    /// The token or code; nil after it was erased.
    func opened(in vault: Vault) throws(StoreError) -> SecretText? {
        guard let secret else { return nil }
        return SecretText(try vault.open(secret, for: Self.place(of: fingerprint, clientID)))
    }

    /// Notes that the code was exchanged: the job now revokes its refresh token.
    mutating func take(
        _ token: RefreshToken, of userID: UserID?, in vault: Vault
    ) throws(StoreError) {
        let fingerprint = try TokenFingerprint(of: token)
        let sealed = try vault.seal(token.text.bytes, for: Self.place(of: fingerprint, clientID))
        take(sealed, fingerprint, of: userID)
    }
}
