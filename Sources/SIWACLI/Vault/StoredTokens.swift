internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// The tokens of one user of the settings' client in the vault, and a function that notes answers
/// about them.
struct StoredTokens: Sendable {
    let user: VaultUser
    let vault: Vault
    /// The records, in the order in which they were stored.
    let records: [VaultRecord]
    /// Rows of the user that cannot be read.
    let damaged: [DamagedRecord]
    /// Other clients of the vault with tokens of the user.
    let otherClients: [ClientID]
    private let clocks: Clocks

    /// Reads the vault; warns of tokens of other clients.
    ///
    /// - Throws: ``Diagnosis`` if the vault has no token of this user.
    init(of userID: String, _ session: Session) throws {
        user = try session.vaultUser(userID)
        vault = try session.changeableVault()
        clocks = session.world.clocks
        let page = try vault.store.records(of: [user])
        otherClients = try vault.store.otherClients(of: user)
        guard !page.isEmpty else { throw Diagnosis.noRecord(of: user, otherClients) }
        records = page.records.oldestFirst
        damaged = page.damaged
        session.warn(ofOtherClients: otherClients)
    }

    /// Notes the event of an answer; nil for no change.
    func note(_ noted: NotedEvent?, of record: VaultRecord) throws(StoreError) {
        guard let noted else { return }
        try vault.note([VaultNote(record, noted.event, noted.details)], at: clocks.now())
    }

    /// `other_clients`, if there are any.
    var otherClientsMember: [JSON.Member] { .otherClients(otherClients) }

    /// Reports damaged rows after all other work.
    ///
    /// - Throws: ``Diagnosis``.
    func checkDamaged(_ outcome: String) throws {
        var broken = BrokenRecords()
        for row in damaged { try broken.add(row.error) }
        try broken.check(outcome)
    }
}

extension Session {
    /// Warns of tokens that a command about one user does not concern.
    func warn(ofOtherClients clients: [ClientID]) {
        guard !clients.isEmpty else { return }
        let names = clients.map(\.rawValue).joined(separator: ", ")
        console.warn(
            "other clients hold tokens of this user: \(names); repeat the command with --client-id")
    }

    /// A user of the client of the settings.
    func vaultUser(_ userID: String) throws -> VaultUser {
        let clientID = try clientID()
        do {
            return try VaultUser(clientID, validating: userID)
        } catch {
            throw UsageError.Problem.misuse(
                "the user '\(error.text)' \(error.fault)",
                hint: "give the 'sub' of an identity token, which siwa calls user_id")
        }
    }
}
