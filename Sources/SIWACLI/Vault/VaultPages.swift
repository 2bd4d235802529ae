internal import SignInWithApple

extension VaultStore {
    /// Goes through records in their order, a few in memory at a time. What changes meanwhile is
    /// seen as it is when its turn comes.
    func forEachPage(
        of filter: VaultFilter = VaultFilter(), _ body: ([VaultRecord]) async throws -> Void
    ) async throws {
        var last: VaultUser?
        while true {
            let page = try records(filter, after: last, limit: vaultPageSize)
            guard let end = page.last else { return }
            try await body(page)
            last = end.user
        }
    }
}

/// How many records are read, or written in one transaction, at a time.
let vaultPageSize = 500
