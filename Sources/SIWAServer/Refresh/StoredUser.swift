internal import SIWAApplication
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

/// A user's tokens in the vault, of one client.
struct StoredUser: Sendable {
    /// The records, in the order in which they were stored.
    let records: [VaultRecord]
    /// Unreadable rows.
    let damaged: [DamagedRecord]
    /// Other clients that hold tokens of the user; only if a client was given.
    let otherClients: [ClientID]

    /// Reads the vault.
    ///
    /// - Parameter clientID: the client; nil chooses the only client that holds tokens of the user.
    /// - Throws: ``Diagnosis`` if the user has no tokens, or if several clients hold tokens and
    ///   none is given.
    init(
        _ userID: UserID, _ clientID: ClientID?, _ clients: ProfileClients, _ access: StoreAccess
    ) async throws(Diagnosis) {
        if let clientID { _ = try clients.client(clientID) }
        let page = try await access.page(of: userID, clients)
        let holders = clients.clientIDs.filter { id in
            page.records.contains { $0.user.clientID == id }
                || page.damaged.contains { $0.key.clientID == Array(id.rawValue.utf8) }
        }
        guard let chosen = clientID ?? holders.first, holders.contains(chosen) else {
            throw try await .noToken(of: userID, holders, access.allTokens(of: userID, clients))
        }
        guard clientID != nil || holders.count == 1 else {
            let names = holders.map(\.rawValue).joined(separator: ", ")
            throw .malformed("client_id", "is required: several clients hold tokens: \(names)")
        }
        otherClients = holders.filter { $0 != chosen }
        records = page.records.filter { $0.user.clientID == chosen }.oldestFirst
        damaged = page.damaged.filter { $0.key.clientID == Array(chosen.rawValue.utf8) }
    }
}

extension StoreAccess {
    /// All records of a user, of the clients of all profiles.
    func page(
        of userID: UserID, _ clients: ProfileClients
    ) async throws(Diagnosis) -> VaultPage {
        let users = clients.clientIDs.map { VaultUser($0, userID) }.sorted()
        do throws(StoreError) {
            return noting(
                try await run { store throws(StoreError) in try store.vault.records(of: users) })
        } catch {
            throw Diagnosis(error)
        }
    }
}

extension Diagnosis {
    /// The vault has no token of a user that can be refreshed.
    ///
    /// - Parameters:
    ///   - holders: the clients with a profile that hold tokens of the user.
    ///   - page: all records of the user.
    fileprivate static func noToken(
        of userID: UserID, _ holders: [ClientID], _ page: VaultPage
    ) -> Diagnosis {
        let others = Set(page.records.map(\.user.clientID)).subtracting(holders)
            .map(\.rawValue).sorted()
        return notFound(
            others.isEmpty
                ? "the vault has no token of '\(userID)'"
                : "the vault has no token of '\(userID)' whose client is in a profile",
            hints: holders.map { "it has a token of client_id \($0)" }
                + others.map {
                    "it has a token of client_id \($0): add a profile with this client_id"
                }, naming: userID)
    }

    /// The error of unreadable rows of the vault.
    static func damaged(_ rows: [DamagedRecord]) -> Diagnosis {
        guard let row = rows.first else {
            return Diagnosis(StoreError(.recordDamaged, "the user's tokens cannot be read"))
        }
        return Diagnosis(row.error)
    }
}
