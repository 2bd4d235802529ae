internal import JOSE
internal import Lifecycle
public import SignInWithApple

extension TokenVault {
    /// Revokes every token of a user, as App Store review requires when a user deletes the account.
    ///
    /// The vault records the intent before a request is sent, and the outcome afterwards. All
    /// tokens are tried, even if one fails. Revoking twice is harmless: after a failure, call this
    /// again.
    ///
    /// - Parameters:
    ///   - userID: the user.
    ///   - apple: the client that the tokens were issued to.
    ///   - proof: the proof to obtain.
    /// - Returns: the result for each token for which a request was sent; empty if the vault has no
    ///   records of this user.
    /// - Throws: ``TokenVaultError``, of kind `notRevoked` if Apple did not revoke a token; the
    ///   first error if several tokens failed.
    @discardableResult
    public func revoke(
        userID: String, with apple: SignInWithAppleClient,
        proof: RevocationProofLevel = .beforeAndAfter
    ) async throws(TokenVaultError) -> [RevocationResult] {
        let user = try vaultUser(userID, apple.clientID)
        var results: [RevocationResult] = []
        var failure: TokenVaultError?
        for record in try await records(of: user) {
            do throws(TokenVaultError) {
                if let result = try await revoke(record, with: apple, proof) {
                    results.append(result)
                }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return results
    }

    private func revoke(
        _ record: VaultRecord, with apple: SignInWithAppleClient, _ proof: RevocationProofLevel
    ) async throws(TokenVaultError) -> RevocationResult? {
        let begun = try await run { vault, now throws(VaultError) in
            let revocation = try VaultRevocation(of: record, in: vault, proof: proof.steps)
            try revocation?.begin(at: now)
            return revocation
        }
        guard let begun else { return nil }
        let revocation: Revocation
        do throws(SignInWithAppleError) {
            revocation = try await apple.revocation(of: begun.token, begun.proof)
        } catch {
            throw TokenVaultError(
                .notRevoked, "a token was not revoked: \(error)", isRetryable: error.isRetryable,
                cause: error)
        }
        try await run { _, now throws(VaultError) in try begun.end(revocation, at: now) }
        guard revocation.isDead else {
            throw TokenVaultError(
                .notRevoked, "Apple accepted the revocation, but the token still works")
        }
        return RevocationResult(revocation)
    }

    /// Records an event of a notification for all tokens of its user.
    ///
    /// Events about the address change nothing. Applying an event again is harmless.
    ///
    /// - Parameters:
    ///   - event: a verified event; see `SignInWithAppleClient.notification(_:timeout:)`.
    ///   - clientIDs: the clients of the team. The event contains only the primary App ID, which is
    ///     always included.
    /// - Returns: the user's tokens after the event; empty for an event about the address.
    /// - Throws: ``TokenVaultError``.
    @discardableResult
    public func apply(
        _ event: AccountEvent, clientIDs: [String] = []
    ) async throws(TokenVaultError) -> [StoredToken] {
        guard let change = VaultEvent(event) else { return [] }
        var users: [VaultUser] = []
        for client in Set(clientIDs + [event.clientID]).sorted() {
            users.append(try vaultUser(event.userID, client))
        }
        return try await run { [users] vault, now throws(VaultError) in
            try vault.note(change, ofAllTokensOf: users, at: now).records.map(StoredToken.init)
        }
    }
}

extension VaultEvent {
    /// The event for a stored token; nil if it causes no change.
    fileprivate init?(_ event: AccountEvent) {
        let moment = NumericDate(event.occurredAt)
        switch event.kind {
        case .consentRevoked: self = .consentRevoked(at: moment)
        case .accountDeleted: self = .accountDeleted(at: moment)
        default: return nil
        }
    }
}
