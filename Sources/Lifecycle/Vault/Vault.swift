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
    /// - Throws: ``VaultError``, also if a key differs from the vault's key with the same number,
    ///   or if the encrypting key is missing or retired.
    package init(
        _ store: any VaultStore, _ keys: VaultKeyRing, by actor: VaultActor
    ) throws(VaultError) {
        (self.store, self.keys, self.actor) = (store, keys, actor)
        currentKey = try Self.encryptingKey(try store.keyChecks(), keys)
    }

    /// The number of the key that encrypts.
    ///
    /// - Parameter checks: the keys of the vault.
    /// - Throws: ``VaultError`` of kind `key` if it cannot be used.
    package static func encryptingKey(
        _ checks: [VaultKeyCheck], _ keys: VaultKeyRing
    ) throws(VaultError) -> Int {
        guard let current = try currentKey(checks, keys) else {
            throw VaultError(
                .damaged, "the vault's database lists no key", remedy: VaultError.unknownKeyRemedy)
        }
        guard keys.numbers.contains(current) else {
            throw VaultError(
                .key,
                "the vault is encrypted with key \(current), which is missing from its keys")
        }
        guard !keys.retiredNumbers.contains(current) else {
            throw VaultError(
                .key,
                "the vault's newest key is key \(current), which is marked as retired: "
                    + "the newer key was removed from the database, or this is an older backup",
                remedy: VaultError.unknownKeyRemedy)
        }
        return current
    }

    /// The number of the vault's newest key, which may be missing from `keys`; nil if the database
    /// lists none.
    ///
    /// - Throws: ``VaultError`` of kind `key` if a key differs from the vault's key with the same
    ///   number.
    package static func currentKey(
        of store: any VaultStore, _ keys: VaultKeyRing
    ) throws(VaultError) -> Int? {
        try currentKey(try store.keyChecks(), keys)
    }

    private static func currentKey(
        _ checks: [VaultKeyCheck], _ keys: VaultKeyRing
    ) throws(VaultError) -> Int? {
        for check in checks where try keys.matches(check) == false {
            throw VaultError(
                .key, "key \(check.number) is not the key \(check.number) of this vault")
        }
        return checks.last?.number
    }

    /// Creates a vault that encrypts with the newest of `keys`.
    ///
    /// - Throws: ``VaultError``, of kind `alreadyInitialized` if there is one.
    package static func create(_ store: any VaultStore, _ keys: VaultKeyRing) throws(VaultError) {
        guard let newest = keys.newest else {
            throw VaultError(.key, "all of the vault's keys are retired")
        }
        try store.create(keys.check(ofKey: newest))
    }

    /// The token of a record.
    ///
    /// - Throws: ``VaultError``, which names the record, if it cannot be decrypted.
    package func token(of record: VaultRecord) throws(VaultError) -> RefreshToken {
        try keys.open(record)
    }

    /// The token of a record, if it can be sent to Apple: siwa 0.1 stored any text.
    ///
    /// - Throws: ``VaultError``, which names the record, if it cannot be decrypted, or is not a
    ///   token of Apple's.
    package func sendableToken(of record: VaultRecord) throws(VaultError) -> RefreshToken {
        let token = try token(of: record)
        do throws(OpaqueTokenError) {
            try validateOpaqueToken(token.text)
        } catch {
            throw VaultError(.tokenInvalid, "\(record.id) cannot be sent: it \(error)")
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

    /// The record of a token, encrypted with the current key.
    func sealed(
        _ token: RefreshToken, _ fingerprint: TokenFingerprint, as record: VaultRecord
    ) throws(VaultError) -> VaultRecord {
        var record = record.renamed(VaultRecordID(record.user, fingerprint))
        record.sealed = try keys.seal(token, for: record.user, fingerprint, key: currentKey)
        record.keyNumber = currentKey
        record.legacyVersion = nil
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
    /// - Throws: ``VaultError``, and the errors of `keys`.
    @discardableResult
    package mutating func renewing<Result>(
        _ keys: () throws -> VaultKeyRing, _ body: (Vault) throws(VaultError) -> Result
    ) throws -> Result {
        do throws(VaultError) {
            return try body(self)
        } catch {
            guard error.kind == .keySuperseded else { throw error }
            self = try Vault(store, keys(), by: actor)
            return try body(self)
        }
    }
}
