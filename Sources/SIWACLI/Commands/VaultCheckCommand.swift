internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

/// `siwa vault check`: decrypts every record.
struct VaultCheckCommand: Command {
    static let name = "vault check"
    static let abstract = "Decrypt every record of the vault, and count them."
    static let discussion = """
        Runs the database's integrity check, names missing tables and indexes, and decrypts every \
        token, without showing any. The result counts the tokens (records) by state, and their \
        users; what siwa-server has sealed in its outbox and journal is opened, too \
        (sealed_elsewhere), and counted with the tokens by key (keys). Each fault, such as a \
        changed byte, a record in the place of another, or a missing key, is reported with client \
        and user; the exit code is then 3, and there is no result. If siwa-server uses the vault, \
        siwa status shows when it was last checked, and the number of faults.
        """
    static let examples = [Example("siwa vault check", "Check a restored backup.")]
    static let parameters: [Parameter<Self>] =
        [VaultArgument.option(\.vault), MetricsArgument.option(\.metrics)]
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var vault: VaultArgument?
    var metrics: MetricsArgument?

    func run(in world: World) async throws {
        try world.metrics.begin(metrics, global, in: world)
        try global.output.checkPrinted(among: [
            "records", "users", "states", "keys", "sealed_elsewhere", "faults",
        ])
        let session = try Session(global, vault: vault, in: world)
        try session.nameVault()
        let vault = try session.vault(.statement)
        session.warnOfMove(vault.store)
        if let newest = vault.keys.newest, newest > vault.currentKey {
            session.console.note(
                "key \(newest) of the key file is not in use: new tokens are encrypted with key "
                    + "\(vault.currentKey) until 'siwa vault rekey'")
        }
        var (broken, counts) = (BrokenRecords(), VaultCounts())
        do {
            try await check(vault, session, &counts, &broken)
        } catch let error as StoreError where error.kind == .damaged {
            // The rest cannot be read.
            broken.add(
                error.message, .damaged,
                remedy: "restore the vault from its backup (runbooks/backup-and-restore)")
        }
        try note(broken.count, in: session)
        let records = counts.records
        try broken.check("\(records) \(records == 1 ? "record was" : "records were") examined")
        world.metrics.note { $0.vaultTokens = counts.tokens }
        try session.report(Report(counts.json))
    }

    private func check(
        _ vault: Vault, _ session: Session, _ counts: inout VaultCounts,
        _ broken: inout BrokenRecords
    ) async throws {
        let store = vault.store
        let faults = try session.showing("the database is checked") { try store.faults() }
        for fault in faults { broken.add(fault.text, .damaged, remedy: fault.remedy) }
        if faults.isEmpty, self.vault == nil, session.settings.file?.server != nil {
            // The columns. That the vault moves, or that a newer siwa-server has it, is no fault of it.
            do {
                _ = try session.serverStore(.statement).examine()
            } catch let error as StoreError
                where [.moving, .moved, .copyIncomplete, .tooNew].contains(error.kind)
            {}
        }
        let progress = try RecordProgress(session, "records decrypted") {
            let count = try store.expectedRecords()
            return { count }
        }
        var vault = vault
        try await store.forEachPage { page in
            for row in page.damaged { try broken.add(row.error) }
            vault = vault.renewed(for: page.records, session.vaultKeys)
            for record in page.records {
                _ = try broken.token(of: record, in: vault)
                counts.add(record)
            }
            progress.add(page.records.count)
            try session.world.ending.checkSignal()
        }
        try checkSecrets(vault, session, &counts, &broken)
        progress.end()
    }

    /// Opens what siwa-server has sealed: without these, a key that is lost would be noticed late.
    private func checkSecrets(
        _ vault: Vault, _ session: Session, _ counts: inout VaultCounts,
        _ broken: inout BrokenRecords
    ) throws {
        try vault.store.forEachSecretPage { page in
            for error in page.damaged { try broken.add(error) }
            for secret in page.secrets {
                do throws(StoreError) {
                    try vault.open(secret)
                    counts.add(secret)
                } catch {
                    try broken.add(error)
                }
            }
            try session.world.ending.checkSignal()
        }
    }

    /// Notes the number of faults for `siwa status`, in the vault that the configuration's server uses
    /// and in no copy of it.
    private func note(_ faults: Int, in session: Session) throws {
        guard vault == nil, session.settings.file?.server != nil else { return }
        do {
            try session.serverStore(.statement).noteVaultCheck(faults: faults)
        } catch let error as StoreError where error.kind == .serverNotInitialized {
            // No server has used the vault yet.
        } catch let error as StoreError {
            session.console.warn("siwa status will not show this check: \(error.message)")
        }
    }
}

/// The records of a vault, counted in the order of their users.
private struct VaultCounts {
    private(set) var tokens: [TaskMetrics.VaultCount: Int] = [:]
    private var keys: [Int: Int] = [:]
    private var secrets = 0
    private var users = 0
    private var lastUser: VaultUser?

    var records: Int { tokens.values.reduce(0, +) }

    mutating func add(_ record: VaultRecord) {
        if record.user != lastUser { (users, lastUser) = (users + 1, record.user) }
        tokens[.init(clientID: record.user.clientID, state: record.state), default: 0] += 1
        keys[record.keyNumber, default: 0] += 1
    }

    /// Counts a secret outside the records.
    mutating func add(_ secret: VaultSecret) {
        secrets += 1
        keys[secret.sealed.keyNumber, default: 0] += 1
    }

    var json: JSON {
        let states = Dictionary(
            tokens.map { ($0.key.state, $0.value) }, uniquingKeysWith: { $0 + $1 })
        let members: JSON = [
            "records": .integer(records), "users": .integer(users),
            "states": .object(
                VaultState.allCases.map { .init($0.rawValue, .integer(states[$0] ?? 0)) }),
            "keys": .object(
                keys.sorted { $0.key < $1.key }.map { .init(String($0.key), .integer($0.value)) }),
            "faults": [],
        ]
        // The tables of siwa-server may be absent, or empty.
        guard secrets > 0 else { return members }
        return .object(
            (members.members ?? []) + [.init("sealed_elsewhere", .integer(secrets))])
    }
}
