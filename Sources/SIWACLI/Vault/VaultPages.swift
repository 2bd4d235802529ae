internal import SIWALifecycle
internal import SIWAVaultRecords

extension VaultStore {
    /// Reads records in their order, with one page in memory. Concurrent changes are visible if
    /// they are made before their page is read.
    func forEachPage(
        of filter: VaultFilter = VaultFilter(), _ body: (VaultPage) async throws -> Void
    ) async throws {
        var last: VaultRowKey?
        while true {
            let page = try records(filter, after: last, limit: vaultPageSize)
            guard let next = page.next else { return }
            try await body(page)
            last = next
        }
    }

    /// Reads the secrets that are sealed outside the records, with one page in memory.
    func forEachSecretPage(
        notSealedWith number: Int? = nil, _ body: (VaultSecretPage) throws -> Void
    ) throws {
        var last: VaultSecret.Row?
        while true {
            let page = try secrets(notSealedWith: number, after: last, limit: vaultPageSize)
            guard let next = page.next else { return }
            try body(page)
            last = next
        }
    }
}

/// The number of records that are read, or written in one transaction, at a time.
let vaultPageSize = 500
