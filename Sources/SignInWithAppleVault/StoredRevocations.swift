internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords
public import SignInWithApple

/// What happened to the tokens of a user.
public struct UserRevocation: Hashable, Sendable {
    /// The result for each token for which a request was sent.
    public let results: [RevocationResult]
    /// The number of tokens that the vault has as revoked, with as much proof as was asked for:
    /// nothing was sent for them.
    public let alreadyRevoked: Int

    /// Creates a result, for tests.
    public init(results: [RevocationResult], alreadyRevoked: Int) {
        (self.results, self.alreadyRevoked) = (results, alreadyRevoked)
    }

    /// Whether the vault has no token of the user: there was nothing to revoke.
    public var foundNothing: Bool { results.isEmpty && alreadyRevoked == 0 }
}

extension TokenVault {
    /// Revokes every token of a user, as App Store review requires when a user deletes the account.
    ///
    /// The vault records the intent before a request is sent, and the outcome afterwards. All
    /// tokens are tried, even if one fails or its record is damaged. Revoking twice is harmless:
    /// after a failure, call this again.
    ///
    /// - Parameters:
    ///   - userID: the user.
    ///   - apple: has a key for each client that tokens were issued to: see
    ///     `SignInWithAppleClient.clientIDs`.
    ///   - proof: the proof to obtain.
    /// - Returns: what was done, or that nothing was found.
    /// - Throws: ``TokenVaultError``, after all tokens were tried: of kind `notRevoked` if Apple did
    ///   not revoke one, `recordDamaged` if a record cannot be read, `otherClients` if tokens remain
    ///   that were issued to a client of which `apple` has no key. If there are several errors, one
    ///   that is retryable.
    @discardableResult
    public func revoke(
        userID: String, with apple: SignInWithAppleClient,
        proof: RevocationProofLevel = .beforeAndAfter
    ) async throws(TokenVaultError) -> UserRevocation {
        let given = Set(apple.clientIDs)
        let page = try await allRecords(ofUser: userID)
        var results: [RevocationResult] = []
        var failures: [TokenVaultError] = []
        for record in page.records.oldestFirst {
            guard let client = try? apple.client(for: record.user.clientID.rawValue) else {
                continue
            }
            do throws(TokenVaultError) {
                if let result = try await revoke(record, with: client, proof) {
                    results.append(result)
                }
            } catch {
                failures.append(error)
            }
        }
        failures += page.damaged.map { TokenVaultError($0.error) }
        let others = page.records.filter { $0.state != .revoked }
            .map(\.user.clientID.rawValue).filter { !given.contains($0) }
        if !others.isEmpty { failures.append(.otherClients(Set(others).sorted(), userID)) }
        if let failure = failures.first(where: \.isRetryable) ?? failures.first { throw failure }
        return UserRevocation(
            results: results, alreadyRevoked: page.records.count - results.count)
    }

    private func revoke(
        _ record: VaultRecord, with apple: SignInWithAppleClient, _ proof: RevocationProofLevel
    ) async throws(TokenVaultError) -> RevocationResult? {
        let begun = try await run { vault, now throws(StoreError) in
            let revocation = try VaultRevocation(of: record, in: vault, proof: proof.steps)
            try revocation?.begin(at: now)
            return revocation
        }
        guard let begun else { return nil }
        let revocation: Revocation
        do throws(SignInWithAppleError) {
            revocation = begun.judged(
                try await apple.revocation(of: begun.token, begun.proof))
        } catch {
            throw TokenVaultError(notRevoked: error, "a token was not revoked: \(error)")
        }
        try await run { _, now throws(StoreError) in try begun.end(revocation, at: now) }
        guard revocation.isDead else {
            let cause = SignInWithAppleError(notRevoked: revocation)
            throw TokenVaultError(notRevoked: cause, cause.message)
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
        return try await run { [users] vault, now throws(StoreError) in
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
