internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// `siwa vault rekey`: encrypts all tokens of the vault with a new key.
struct VaultRekeyCommand: Command {
    static let name = "vault rekey"
    static let abstract = "Encrypt every record of the vault with a new key."
    static let discussion = """
        Adds a key to the key file and encrypts all records with it, in groups, and what siwa-server \
        has sealed in its outbox and journal; the vault can be used meanwhile. To continue a run \
        that was stopped, run the command again. If the key file has a key that is newer than the \
        vault's, that one is used.

        For a vault that several machines share: run it with --prepare, copy the key file to all \
        of them, then run it without.

        The old keys stay in the file, marked as retired: they decrypt older backups, and never \
        encrypt again. siwa cannot change keys that are in SIWA_VAULT_KEY: add a key to the \
        variable, and mark the old ones yourself.
        """
    static let examples = [
        Example("siwa vault rekey", "Give the vault a new key."),
        Example("siwa vault rekey --prepare", "Add the next key to the key file, to be copied."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .flag("prepare", \.isPreparing, help: "Only add the new key to the key file."),
            VaultArgument.option(\.vault),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var isPreparing = false
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try global.output.checkPrinted(among: ["key_number", "resealed"])
        let session = try Session(global, vault: vault, in: world)
        try session.nameVault()
        let keyFile = try VaultKeyFile(session)
        guard !isPreparing else { return try prepare(session, keyFile) }
        let vault = try withNewestKey(session, keyFile)
        // Retired keys are still needed to decrypt the remaining records.
        try keyFile.retire(keysBefore: vault.currentKey)
        var broken = BrokenRecords()
        var resealed = 0
        do {
            let progress = try RecordProgress(session, "records encrypted") {
                let count = try vault.store.expectedRecords()
                return { count }
            }
            // Repeated until a pass finds nothing, because other processes may have stored tokens
            // with the old key.
            var before = -1
            while before < resealed {
                before = resealed
                try reseal(vault, &resealed, &broken, progress, world.ending)
                try resealSecrets(vault, &resealed, &broken, world.ending)
            }
            progress.end()
        } catch {
            if resealed > 0 {
                session.console.note("\(resealed) records were encrypted again before it stopped")
            }
            throw error
        }
        try broken.check("\(resealed) records were encrypted with key \(vault.currentKey)")
        for number in vault.keys.numbers where number < vault.currentKey {
            session.console.note(
                "no record is still encrypted with key \(number); keep it for older backups")
        }
        try report(session, vault.currentKey, resealed)
    }

    private func report(_ session: Session, _ key: Int, _ resealed: Int) throws {
        try session.report(
            Report(
                ["key_number": .integer(key), "resealed": .integer(resealed)],
                of: Deed(
                    "the vault is encrypted with key \(key)",
                    hint: "'siwa vault check' counts the records of each key")))
    }

    private func prepare(_ session: Session, _ keyFile: VaultKeyFile) throws {
        let keys = try session.vaultKeys()
        let store = try session.vaultStore(.statement)
        try store.requireChangeable()
        let current = try Vault.currentKey(of: store, keys) ?? 0
        let newer = try keys.newer(than: current) ?? keyFile.withKey(newerThan: current)
        session.console.note(
            "copy \(keyFile.source.value.description) to every machine that uses the vault, "
                + "then run 'siwa vault rekey' on one of them")
        try session.report(
            Report(
                ["key_number": .integer(newer.newest ?? 0), "resealed": 0],
                of: Deed("the key file has key \(newer.newest ?? 0)", hint: "copy the key file")))
    }

    /// The vault with the new key, which is written to the key file before it is used.
    private func withNewestKey(_ session: Session, _ keyFile: VaultKeyFile) throws -> Vault {
        let store = try session.vaultStore(.statement)
        // The key file may be that of the place to which the vault was moved.
        try store.requireChangeable()
        let keys = try session.vaultKeys()
        let listed = try Vault.currentKey(of: store, keys)
        if listed == nil { try checkDecryption(of: store, keys) }
        // Any key of the file is newer than none.
        let current = listed ?? 0
        if let newer = keys.newer(than: current) { return try register(newer, store, session) }
        let vault = try Vault(store, keys, by: session.world.actor)
        let isUnfinished = try session.showing("records with older keys are looked for") {
            try isMoving(vault, session)
        }
        guard !isUnfinished else { return vault }
        return try register(keyFile.withKey(newerThan: current), store, session)
    }

    /// Checks that the keys are this vault's, which its empty list of keys cannot show: a foreign
    /// key, once entered, would shut out the right ones.
    private func checkDecryption(of store: any VaultStore, _ keys: VaultKeyRing) throws {
        let records = try store.records(VaultFilter(), after: nil, limit: vaultPageSize).records
        guard records.isEmpty || records.contains(where: { (try? keys.open($0)) != nil }) else {
            throw StoreError(.key, "no record of the vault can be decrypted with these keys")
        }
    }

    /// Whether an earlier run was stopped: some readable records still have an older key.
    private func isMoving(_ vault: Vault, _ session: Session) throws -> Bool {
        let progress = try RecordProgress(session, "records searched for older keys") {
            let count = try vault.store.expectedRecords()
            return { count }
        }
        let filter = VaultFilter(notSealedWith: vault.currentKey)
        var last: VaultRowKey?
        while case let page = try vault.store.records(filter, after: last, limit: vaultPageSize),
            let next = page.next
        {
            let isLeft = page.records.contains {
                (try? vault.token(of: $0)) != nil
            }
            if isLeft { return true }
            progress.add(page.searched)
            try session.world.ending.checkSignal()
            last = next
        }
        var isSecretLeft = false
        try vault.store.forEachSecretPage(notSealedWith: vault.currentKey) { page in
            isSecretLeft = isSecretLeft || page.secrets.contains { (try? vault.open($0)) != nil }
        }
        return isSecretLeft
    }

    private func register(
        _ keys: VaultKeyRing, _ store: any VaultStore, _ session: Session
    ) throws -> Vault {
        guard let newest = keys.newest else {
            throw StoreError(.key, "all of the vault's keys are retired")
        }
        try store.register(try keys.check(ofKey: newest))
        return try Vault(store, keys, by: session.world.actor)
    }

    /// Encrypts the records of other keys again, in one pass.
    ///
    /// - Parameter count: the number of records that were encrypted again, which it adds to.
    private func reseal(
        _ vault: Vault, _ count: inout Int, _ broken: inout BrokenRecords,
        _ progress: RecordProgress, _ ending: Ending
    ) throws {
        var found = BrokenRecords()
        var last: VaultRowKey?
        repeat {
            let page = try ending.completing {
                try vault.resealRecords(after: last, limit: vaultPageSize)
            }
            for fault in page.faults { try found.add(fault) }
            count += page.count
            if page.next != nil { progress.add(page.count) }
            last = page.next
            try ending.checkSignal()
        } while last != nil
        broken = found
    }

    /// Encrypts the secrets of siwa-server again, in one pass.
    private func resealSecrets(
        _ vault: Vault, _ count: inout Int, _ broken: inout BrokenRecords, _ ending: Ending
    ) throws {
        var last: VaultSecret.Row?
        repeat {
            let page = try ending.completing {
                try vault.resealSecrets(after: last, limit: vaultPageSize)
            }
            for fault in page.faults { try broken.add(fault) }
            count += page.count
            last = page.next
            try ending.checkSignal()
        } while last != nil
    }
}

extension VaultKeyRing {
    /// The keys, if one that is not retired is newer than key `number`.
    fileprivate func newer(than number: Int) -> VaultKeyRing? {
        newest ?? 0 > number ? self : nil
    }
}
