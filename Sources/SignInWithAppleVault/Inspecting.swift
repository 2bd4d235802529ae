internal import SIWALifecycle
internal import SIWAVaultRecords

/// What a check of a vault found.
public struct VaultCheck: Hashable, Sendable {
    /// The number of tokens that can be decrypted, by their state.
    public var tokens: [StoredToken.State: Int] = [:]
    /// What is wrong: damaged rows, records that cannot be decrypted, faults of the database. They
    /// may contain user ids and fingerprints, but no token.
    public var faults: [String] = []

    /// Creates the result for an empty vault without faults.
    public init() {}
}

extension TokenVault {
    private static let pageSize = 500

    /// The tokens of all users, by client, user and fingerprint.
    ///
    /// - Parameters:
    ///   - token: the last token of the page before; nil for the first page.
    ///   - limit: the most tokens to return, up to 500.
    /// - Returns: at most `limit` tokens; fewer only at the end. Damaged rows are left out: see
    ///   ``check()``.
    /// - Throws: ``TokenVaultError``.
    public func tokens(
        after token: StoredToken? = nil, limit: Int = 100
    ) async throws(TokenVaultError) -> [StoredToken] {
        let limit = min(max(limit, 1), Self.pageSize)
        return try await run { vault, _ throws(StoreError) in
            var found: [StoredToken] = []
            var last = token?.rowKey
            while found.count < limit {
                let page = try vault.store.records(
                    VaultFilter(), after: last, limit: limit - found.count)
                found += page.records.map(StoredToken.init)
                guard let next = page.next else { break }
                last = next
            }
            return found
        }
    }

    /// Reads and decrypts everything in the vault, and lets the database check itself.
    ///
    /// - Returns: how many tokens can be decrypted, and what is wrong.
    /// - Throws: ``TokenVaultError`` if the vault cannot be read at all.
    public func check() async throws(TokenVaultError) -> VaultCheck {
        var check = VaultCheck()
        check.faults = try await run { vault, _ throws(StoreError) in
            try vault.store.faults().map(\.text)
        }
        var last: VaultRowKey?
        while true {
            let (part, next) = try await run { [last] vault, _ throws(StoreError) in
                let page = try vault.store.records(
                    VaultFilter(), after: last, limit: Self.pageSize)
                return (VaultCheck(page, in: vault), page.next)
            }
            check.tokens.merge(part.tokens, uniquingKeysWith: +)
            check.faults += part.faults
            guard let next else { return check }
            last = next
        }
    }

    /// Whether a token could be read now.
    func requireReachable() async throws(TokenVaultError) {
        try await run { vault, _ throws(StoreError) in
            try vault.store.requireChangeable()
            _ = try vault.store.keyChecks()
        }
    }
}

extension VaultCheck {
    fileprivate init(_ page: VaultPage, in vault: Vault) {
        faults = page.damaged.map(\.error.message)
        for record in page.records {
            do throws(StoreError) {
                _ = try vault.token(of: record)
                tokens[StoredToken(record).state, default: 0] += 1
            } catch {
                faults.append(error.message)
            }
        }
    }
}
