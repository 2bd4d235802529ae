internal import SIWAApplication
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

extension StoreAccess {
    /// All records of a user: of every client, with and without a profile, and under all ids that
    /// the user has had.
    ///
    /// - Parameter clients: those of the profiles, which may be new to the vault.
    func allTokens(
        of userID: UserID, _ clients: ProfileClients
    ) async throws(Diagnosis) -> VaultPage {
        let profiles = clients.clientIDs
        do throws(StoreError) {
            return noting(
                try await run { store throws(StoreError) in
                    let clients = Set(try store.vault.clients()).union(profiles)
                    let ids = try store.vault.ids(of: userID)
                    let users = clients.flatMap { client in ids.map { VaultUser(client, $0) } }
                    return try store.vault.records(of: users.sorted())
                })
        } catch {
            throw Diagnosis(error)
        }
    }

    /// Notes the rows of a page that could not be read.
    func noting(_ page: VaultPage) -> VaultPage {
        for row in page.damaged { noteRecord(row.error) }
        return page
    }
}

extension VaultStore {
    /// All entries about a user, the oldest first, and the errors of unreadable ones.
    func history(
        of userID: UserID, clientID: ClientID? = nil, _ events: [VaultHistoryEvent] = []
    ) throws(StoreError) -> VaultHistoryPage {
        let filter = VaultHistoryFilter(userID: userID, clientID: clientID, events: events)
        var all = VaultHistoryPage()
        var last: VaultHistoryPosition?
        while case let page = try history(filter, after: last, limit: 1000), let next = page.next {
            all.entries += page.entries
            all.damaged += page.damaged
            last = next
        }
        return all
    }

    /// The ids that a user has had, by the app transfers in the history.
    func ids(of userID: UserID) throws(StoreError) -> Set<UserID> {
        let moves = try history(of: userID, [.remapped]).entries
        return Set([userID] + moves.map(\.user.userID) + moves.compactMap(\.newUserID))
    }
}
