internal import Lifecycle
internal import SIWACLI
internal import ServerRecords

/// The tokens that the vault has of a user, of one client.
struct StoredUser: Sendable {
    /// In the order in which they were stored.
    let records: [VaultRecord]
    /// Rows that cannot be read.
    let damaged: [DamagedRecord]
    /// Other clients that hold tokens of the user; only if the client was named.
    let otherClients: [ClientID]

    /// Reads the vault.
    ///
    /// - Parameter clientID: nil for the only client that holds tokens of the user.
    /// - Throws: ``Diagnosis`` if there are none, or if several clients hold some and none is named.
    init(
        _ userID: UserID, _ clientID: ClientID?, _ clients: ProfileClients, _ access: StoreAccess
    ) async throws(Diagnosis) {
        if let clientID { _ = try clients.client(clientID) }
        let page = try await access.page(of: userID, clients)
        let holders = clients.all.map(\.clientID).filter { id in
            page.records.contains { $0.user.clientID == id }
                || page.damaged.contains { $0.key.clientID == Array(id.rawValue.utf8) }
        }
        guard let chosen = clientID ?? holders.first, holders.contains(chosen) else {
            throw .notFound(
                "the vault has no token of '\(userID)'",
                hints: holders.map { "it has one of client_id \($0)" })
        }
        guard clientID != nil || holders.count == 1 else {
            let names = holders.map(\.rawValue).joined(separator: ", ")
            throw .malformed("client_id", "is needed: several clients hold tokens: \(names)")
        }
        otherClients = holders.filter { $0 != chosen }
        records = page.records.filter { $0.user.clientID == chosen }
            .sorted { ($0.storedAt, $0.id) < ($1.storedAt, $1.id) }
        damaged = page.damaged.filter { $0.key.clientID == Array(chosen.rawValue.utf8) }
    }

    /// The active token that was stored last, else the token that was stored last.
    var newest: VaultRecord? { records.last { $0.state == .active } ?? records.last }
}

extension StoreAccess {
    /// All records that the clients of some profiles have of a user.
    func page(
        of userID: UserID, _ clients: ProfileClients
    ) async throws(Diagnosis) -> VaultPage {
        let users = clients.all.map { VaultUser($0.clientID, userID) }
        do throws(VaultError) {
            return try await run { store throws(VaultError) in
                try store.vault.records(of: Array(Set(users)).sorted())
            }
        } catch {
            throw Diagnosis(error)
        }
    }
}

extension Diagnosis {
    /// Rows of the vault that cannot be read.
    static func damaged(_ rows: [DamagedRecord]) -> Diagnosis {
        guard let row = rows.first else {
            return Diagnosis(VaultError(.recordDamaged, "the user's tokens cannot be read"))
        }
        return Diagnosis(row.error)
    }
}
