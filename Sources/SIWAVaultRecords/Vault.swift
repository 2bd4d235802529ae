package import SIWALifecycle

/// Stored refresh tokens: records in a store, encrypted with keys that the store never receives.
package struct Vault: Sendable {
    /// Where the records are kept.
    package let store: any VaultStore
    /// What decrypts them.
    package let keys: VaultKeyRing
    /// The number of the key that encrypts.
    package let currentKey: Int
    /// The program that changes the vault, for its history.
    package let actor: VaultActor

    /// Opens a vault.
    ///
    /// - Throws: ``StoreError``, also if a key differs from the vault's key with the same number,
    ///   or if the encrypting key is missing or retired.
    package init(
        _ store: any VaultStore, _ keys: VaultKeyRing, by actor: VaultActor
    ) throws(StoreError) {
        (self.store, self.keys, self.actor) = (store, keys, actor)
        currentKey = try Self.encryptingKey(try store.keyChecks(), keys)
    }

    /// The number of the key that encrypts.
    ///
    /// - Parameter checks: the keys of the vault.
    /// - Throws: ``StoreError`` of kind `key` if it cannot be used.
    package static func encryptingKey(
        _ checks: [VaultKeyCheck], _ keys: VaultKeyRing
    ) throws(StoreError) -> Int {
        guard let current = try currentKey(checks, keys) else {
            throw StoreError(
                .damaged, "the vault's database lists no key", remedy: StoreError.unknownKeyRemedy)
        }
        guard keys.numbers.contains(current) else {
            throw StoreError(
                .key,
                "the vault is encrypted with key \(current), which is missing from its keys")
        }
        guard !keys.retiredNumbers.contains(current) else {
            throw StoreError(
                .key,
                "the vault's newest key is key \(current), which is marked as retired: "
                    + "the newer key was removed from the database, or this is an older backup",
                remedy: StoreError.unknownKeyRemedy)
        }
        return current
    }

    /// Fails unless one of `keys` is a key of the vault with these keys.
    package static func requireKey(
        of checks: [VaultKeyCheck], _ keys: VaultKeyRing
    ) throws(StoreError) {
        _ = try currentKey(checks, keys)
        if !checks.contains(where: { keys.numbers.contains($0.number) }) {
            _ = try encryptingKey(checks, keys)
        }
    }

    /// The number of the vault's newest key, which may be missing from `keys`; nil if the database
    /// lists none.
    ///
    /// - Throws: ``StoreError`` of kind `key` if a key differs from the vault's key with the same
    ///   number.
    package static func currentKey(
        of store: any VaultStore, _ keys: VaultKeyRing
    ) throws(StoreError) -> Int? {
        try currentKey(try store.keyChecks(), keys)
    }

    private static func currentKey(
        _ checks: [VaultKeyCheck], _ keys: VaultKeyRing
    ) throws(StoreError) -> Int? {
        for check in checks where try keys.matches(check) == false {
            throw StoreError(
                .key, "key \(check.number) is not the key \(check.number) of this vault")
        }
        return checks.last?.number
    }

    /// Creates a vault that encrypts with the newest of `keys`.
    ///
    /// - Throws: ``StoreError``, of kind `alreadyInitialized` if there is one.
    package static func create(_ store: any VaultStore, _ keys: VaultKeyRing) throws(StoreError) {
        guard let newest = keys.newest else {
            throw StoreError(.key, "all of the vault's keys are retired")
        }
        try store.create(keys.check(ofKey: newest))
    }

    /// The token of a record.
    ///
    /// - Throws: ``StoreError``, which names the record, if it cannot be decrypted, or is not a
    ///   token of Apple's: an empty one would be revoked with success.
    package func token(of record: VaultRecord) throws(StoreError) -> RefreshToken {
        let token = try keys.open(record)
        do throws(OpaqueTokenError) {
            try validateOpaqueToken(token.text)
        } catch {
            throw StoreError(
                .tokenInvalid, "\(record.id) cannot be sent: it \(error)",
                naming: record.user.userID.rawValue)
        }
        return token
    }

    /// The same vault through another view of its store.
    package func through(_ store: any VaultStore) -> Vault { Vault(self, store) }

    private init(_ other: Vault, _ store: any VaultStore) {
        (self.store, keys, currentKey, actor) = (store, other.keys, other.currentKey, other.actor)
    }

    /// The operations that need no keys.
    package var keyless: KeylessVault { KeylessVault(store, by: actor) }

    /// A record with its token, encrypted with the current key.
    func sealed(_ token: RefreshToken, as record: VaultRecord) throws(StoreError) -> VaultRecord {
        var record = record
        record.sealed = try keys.seal(token, for: record.id, key: currentKey)
        record.keyNumber = currentKey
        return record
    }
}

// Reacting to a newer key that another process added.
extension Vault {
    /// This vault. If one of `records` needs a key that is missing here, the same vault with the
    /// keys read again, because another process may have added a key.
    package func renewed(
        for records: [VaultRecord], _ keys: () throws -> VaultKeyRing
    ) -> Vault {
        let known = self.keys.numbers
        guard records.contains(where: { !known.contains($0.keyNumber) }) else { return self }
        return (try? Vault(store, keys(), by: actor)) ?? self
    }

    /// Performs an operation that encrypts. If another process has added a newer key, reads the
    /// keys again and repeats it.
    ///
    /// - Parameter keys: reads the keys.
    /// - Throws: ``StoreError``, and the errors of `keys`.
    @discardableResult
    package mutating func renewing<Result>(
        _ keys: () throws -> VaultKeyRing, _ body: (Vault) throws(StoreError) -> Result
    ) throws -> Result {
        do throws(StoreError) {
            return try body(self)
        } catch {
            guard error.kind == .keySuperseded else { throw error }
            self = try Vault(store, keys(), by: actor)
            return try body(self)
        }
    }
}
