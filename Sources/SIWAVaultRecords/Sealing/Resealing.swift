package import SIWALifecycle

/// A page of records, or of other secrets, that was encrypted with the current key.
package struct ResealedPage<Row: Sendable>: Sendable {
    /// How many are encrypted with the current key now.
    package let count: Int
    /// Why the others of the page cannot be read or decrypted. They stay as they are.
    package let faults: [StoreError]
    /// The last row of the page; nil if the page is empty, which is the end.
    package let next: Row?
}

// A change of the key, in pages: between two of them, other programs use the vault.
extension Vault {
    /// Makes the newest of ``keys`` the key that encrypts, and adds it to the vault's database.
    ///
    /// - Throws: ``StoreError`` of kind `key` if all keys are retired.
    package func withNewestKey() throws(StoreError) -> Vault {
        guard let newest = keys.newest else {
            throw StoreError(.key, "all of the vault's keys are retired")
        }
        guard newest > currentKey else { return self }
        try store.register(try keys.check(ofKey: newest))
        return try Vault(store, keys, by: actor)
    }

    /// Encrypts a page of records of other keys again.
    ///
    /// - Throws: ``StoreError`` that concerns more than a record.
    package func resealRecords(
        after row: VaultRowKey?, limit: Int
    ) throws(StoreError) -> ResealedPage<VaultRowKey> {
        let page = try store.records(
            VaultFilter(notSealedWith: currentKey), after: row, limit: limit)
        var faults = page.damaged.map(\.error)
        let good = try readable(page.records, &faults) { record throws(StoreError) in
            _ = try token(of: record)
        }
        return ResealedPage(
            count: good.isEmpty ? 0 : try reseal(good), faults: faults, next: page.next)
    }

    /// Encrypts a page of the secrets outside the records again.
    ///
    /// - Throws: ``StoreError`` that concerns more than a secret.
    package func resealSecrets(
        after row: VaultSecret.Row?, limit: Int
    ) throws(StoreError) -> ResealedPage<VaultSecret.Row> {
        let page = try store.secrets(notSealedWith: currentKey, after: row, limit: limit)
        var faults = page.damaged
        let good = try readable(page.secrets, &faults) { secret throws(StoreError) in
            try open(secret)
        }
        return ResealedPage(
            count: good.isEmpty ? 0 : try reseal(good), faults: faults, next: page.next)
    }

    private func readable<Item>(
        _ items: [Item], _ faults: inout [StoreError],
        _ open: (Item) throws(StoreError) -> Void
    ) throws(StoreError) -> [Item] {
        var good: [Item] = []
        for item in items {
            do throws(StoreError) {
                try open(item)
                good.append(item)
            } catch {
                guard error.isAboutRecord else { throw error }
                faults.append(error)
            }
        }
        return good
    }
}
