internal import Lifecycle

extension VaultStore {
    /// Goes through records in their order, a few in memory at a time. Changes made meanwhile are
    /// seen as they are when their page is read.
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
}

/// How many records are read, or written in one transaction, at a time.
let vaultPageSize = 500
