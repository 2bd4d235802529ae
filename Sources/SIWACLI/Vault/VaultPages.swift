internal import SignInWithApple

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

    /// The record that a command about one user means: the active token that was stored last, else
    /// the token that was stored last; nil if there is none.
    func newestRecord(of user: VaultUser) throws(VaultError) -> VaultRecord? {
        let records = try records(of: [user]).records
        let active = records.filter { $0.state == .active }
        return (active.isEmpty ? records : active).max {
            ($0.storedAt, $0.id) < ($1.storedAt, $1.id)
        }
    }
}

/// How many records are read, or written in one transaction, at a time.
let vaultPageSize = 500
