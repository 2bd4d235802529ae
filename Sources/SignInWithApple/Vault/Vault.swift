/// Refresh tokens kept for the day they are needed: records in a store, sealed with keys that
/// the store never sees.
public struct Vault: Sendable {
    /// Where the records lie.
    public let store: any VaultStore
    /// What opens them.
    public let keys: VaultKeyRing
    /// The number of the key that seals.
    public let currentKey: Int

    /// Opens a vault.
    ///
    /// - Throws: ``VaultError`` also when a key is not the one the vault knows by its number, or
    ///   the one that seals is missing.
    public init(_ store: any VaultStore, _ keys: VaultKeyRing) throws(VaultError) {
        (self.store, self.keys) = (store, keys)
        let checks = try store.keyChecks()
        for check in checks where try keys.matches(check) == false {
            throw VaultError(.key, "key \(check.number) is not the one of this vault")
        }
        guard let current = checks.last?.number else {
            throw VaultError(.damaged, "the vault knows no key")
        }
        guard keys.numbers.contains(current) else {
            throw VaultError(.key, "the vault seals with key \(current), which is not there")
        }
        currentKey = current
    }

    /// Makes a vault that seals with the newest of `keys`.
    ///
    /// - Throws: ``VaultError``, of kind `alreadyInitialized` when there is one.
    public static func create(_ store: any VaultStore, _ keys: VaultKeyRing) throws(VaultError) {
        try store.create(keys.check(ofKey: keys.numbers.last ?? 1))
    }

    /// The token of a record.
    ///
    /// - Throws: ``VaultError``, which names the record, when it does not open.
    public func token(of record: VaultRecord) throws(VaultError) -> RefreshToken {
        try keys.open(record)
    }
}

// What becomes of records; every call is one transaction.
extension Vault {
    /// Stores a token that Apple just issued, in place of the one that the user had.
    public func store(
        _ token: RefreshToken, for user: VaultUser, at now: NumericDate
    ) throws(VaultError) {
        try put([
            (
                VaultRecord(
                    user: user, state: .active, keyNumber: currentKey, version: 0, sealed: [],
                    storedAt: now, changedAt: now), token
            )
        ])
    }

    /// Stores tokens with their past, as another vault had them; of two for one user, the last.
    ///
    /// - Returns: how many users had one already, whose place the new one takes.
    @discardableResult
    public func put(_ records: [(record: VaultRecord, token: RefreshToken)]) throws(VaultError)
        -> Int
    {
        let given = Dictionary(
            records.map { ($0.record.user, $0) }, uniquingKeysWith: { $1 })
        var replaced: Set<VaultUser> = []
        try store.change(Array(given.keys), releasedBy: nil) { user, before throws(VaultError) in
            guard let (record, token) = given[user] else { return .keep }
            if before != nil { replaced.insert(user) }
            return .put(try sealed(record, token, replacing: before))
        }
        return replaced.count
    }

    /// Notes what happened to users and their tokens.
    ///
    /// - Parameters:
    ///   - events: `record` is the one whose token it happened to: a token that was stored
    ///     meanwhile has nothing to do with it. Nil when it concerns the user, whatever the
    ///     token. `event` is nil when nothing happened but the end of a claim.
    ///   - owner: gives back what this owner claimed of them.
    /// - Returns: the records as they are now, as far as there are any.
    @discardableResult
    public func note(
        _ events: [(user: VaultUser, record: VaultRecord?, event: VaultEvent?)],
        releasedBy owner: String? = nil, at now: NumericDate
    ) throws(VaultError) -> [VaultRecord] {
        let given = Dictionary(events.map { ($0.user, $0) }, uniquingKeysWith: { $1 })
        var records: [VaultUser: VaultRecord] = [:]
        try store.change(events.map(\.user), releasedBy: owner) { user, before in
            guard let before, let (_, record, event) = given[user] else { return .keep }
            guard let event, record.map(before.hasToken(of:)) ?? true else {
                records[user] = before
                return .keep
            }
            let after = before.after(event, at: now)
            records[user] = after
            return after == before ? .keep : .put(after)
        }
        return events.compactMap { records[$0.user] }
    }

    /// Notes what happened to one user's token, or to the user.
    ///
    /// - Returns: the record as it is now; nil when there is none.
    @discardableResult
    public func note(
        _ event: VaultEvent, of user: VaultUser, with record: VaultRecord?, at now: NumericDate
    ) throws(VaultError) -> VaultRecord? {
        try note([(user, record, event)], at: now).first
    }

    /// Seals records anew with the current key; one that changed meanwhile is as it is then.
    ///
    /// - Throws: ``VaultError``, which names the record, when one does not open.
    public func reseal(_ users: [VaultUser]) throws(VaultError) {
        try store.change(users, releasedBy: nil) { _, before throws(VaultError) in
            guard let before, before.keyNumber != currentKey else { return .keep }
            return .put(try sealed(before, token(of: before), replacing: before))
        }
    }

    /// This vault, or, where one of `records` needs a key that is not here, the same with the keys
    /// as they are now: others may have made one since it was opened.
    public func renewed(
        for records: [VaultRecord], _ keys: () throws -> VaultKeyRing
    ) -> Vault {
        let known = self.keys.numbers
        guard records.contains(where: { !known.contains($0.keyNumber) }) else { return self }
        return (try? Vault(store, keys())) ?? self
    }

    /// Does what seals; once more, with the keys as they are by then, when others made a newer one
    /// since this vault was opened.
    ///
    /// - Parameter keys: reads the keys.
    /// - Throws: ``VaultError``, and what `keys` throws.
    public mutating func renewing<Result>(
        _ keys: () throws -> VaultKeyRing, _ body: (Vault) throws(VaultError) -> Result
    ) throws -> Result {
        do throws(VaultError) {
            return try body(self)
        } catch {
            guard error.kind == .keySuperseded else { throw error }
            self = try Vault(store, keys())
            return try body(self)
        }
    }

    private func sealed(
        _ record: VaultRecord, _ token: RefreshToken, replacing before: VaultRecord?
    ) throws(VaultError) -> VaultRecord {
        var record = record
        record.keyNumber = currentKey
        record.version = (before?.version ?? 0) + 1
        record.sealed = try keys.seal(
            token, for: record.user, key: currentKey, version: record.version)
        return record
    }
}
