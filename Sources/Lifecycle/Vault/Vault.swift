/// Refresh tokens kept for the day they are needed: records in a store, encrypted with keys that
/// the store never sees.
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
    /// - Throws: ``VaultError``, also if a key is not the one that the vault knows by its number,
    ///   or the one that encrypts is missing or retired.
    package init(
        _ store: any VaultStore, _ keys: VaultKeyRing, by actor: VaultActor
    ) throws(VaultError) {
        (self.store, self.keys, self.actor) = (store, keys, actor)
        let current = try Self.currentKey(of: store, keys)
        guard keys.numbers.contains(current) else {
            throw VaultError(
                .key,
                "the vault is encrypted with key \(current), which is missing from its keys")
        }
        guard !keys.retiredNumbers.contains(current) else {
            throw VaultError(
                .key,
                "the vault's newest key is key \(current), which is marked as retired: "
                    + "the newer key was removed from the database")
        }
        currentKey = current
    }

    /// The number of the newest key that a vault knows; `keys` may lack it.
    ///
    /// - Throws: ``VaultError`` of kind `key` if a key is not the one that the vault knows by its
    ///   number.
    package static func currentKey(
        of store: any VaultStore, _ keys: VaultKeyRing
    ) throws(VaultError) -> Int {
        let checks = try store.keyChecks()
        for check in checks where try keys.matches(check) == false {
            throw VaultError(
                .key, "key \(check.number) is not the key \(check.number) of this vault")
        }
        guard let current = checks.last?.number else {
            throw VaultError(.damaged, "the vault's database lists no key")
        }
        return current
    }

    /// Makes a vault that encrypts with the newest of `keys`.
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

    /// What can be done without the keys.
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

// When others made a newer key.
extension Vault {
    /// This vault, or, if one of `records` needs a key that is missing here, the same vault with
    /// the keys read again: others may have made one since it was opened.
    package func renewed(
        for records: [VaultRecord], _ keys: () throws -> VaultKeyRing
    ) -> Vault {
        let known = self.keys.numbers
        guard records.contains(where: { !known.contains($0.keyNumber) }) else { return self }
        return (try? Vault(store, keys(), by: actor)) ?? self
    }

    /// Does something that encrypts; again, with the keys read again, if others made a newer one
    /// since this vault was opened.
    ///
    /// - Parameter keys: reads the keys.
    /// - Throws: ``VaultError``, and what `keys` throws.
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
