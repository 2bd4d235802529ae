internal import CommandTable
internal import SignInWithApple

/// `siwa vault rekey`: a new key for all that is in the vault.
struct VaultRekeyCommand: Command {
    static let name = "vault rekey"
    static let abstract = "Seal every record of the vault with a new key."
    static let discussion = """
        Adds a key to the key file and seals all records with it, in groups, while others go on \
        working with the vault. A run that was stopped goes on when it is run again. When the \
        keys have one that is newer than the vault's, that one is used.

        For a vault that several machines share: run it with --prepare, copy the key file to all \
        of them, then run it without.

        The old key stays in the file. When the move is over it opens nothing in the vault any \
        more, but it still opens the vault's backups from before. Keys in SIWA_VAULT_KEY are \
        added to by whoever sets it.
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
        try global.checkPrinted(among: ["key_number", "resealed"])
        let session = try Session(TypedSettings(global: global, vault: vault), in: world)
        let keyFile = try VaultKeyFile(session)
        guard !isPreparing else { return try prepare(session, keyFile) }
        let vault = try withNewestKey(session, keyFile)
        var broken = BrokenRecords()
        var resealed = 0
        // Once more after every turn that found some: others may have stored with the old key.
        while case let count = try await reseal(vault, &broken), count > 0 { resealed += count }
        try broken.check("\(resealed) records were resealed, and those that are named were not")
        for number in vault.keys.numbers where number < vault.currentKey {
            session.console.note(
                "key \(number) opens nothing in this vault any more; keep it for older backups")
        }
        try report(session, vault.currentKey, resealed)
    }

    private func report(_ session: Session, _ key: Int, _ resealed: Int) throws {
        try session.report(
            Report(["key_number": .integer(key), "resealed": .integer(resealed)]))
    }

    private func prepare(_ session: Session, _ keyFile: VaultKeyFile) throws {
        let vault = try session.vault(.statement)
        let keys = try vault.newerKeys ?? keyFile.withKey(newerThan: vault.currentKey)
        session.console.note(
            "copy \(keyFile.source.value.description) to every machine that uses the vault, "
                + "then run 'siwa vault rekey' on one of them")
        try report(session, keys.newest ?? 0, 0)
    }

    /// The vault with the key that all records are to have. It is on disk before any use of it.
    private func withNewestKey(_ session: Session, _ keyFile: VaultKeyFile) throws -> Vault {
        let vault = try session.vault(.statement)
        let old = VaultFilter(notSealedWith: vault.currentKey)
        let isMoving = try !vault.store.records(old, after: nil, limit: 1).records.isEmpty
        if isMoving, vault.newerKeys == nil { return vault }
        let keys = try vault.newerKeys ?? keyFile.withKey(newerThan: vault.currentKey)
        try vault.store.register(try keys.check(ofKey: keys.newest ?? 0))
        return try Vault(vault.store, keys, by: session.world.actor)
    }

    /// Goes once through what another key seals.
    ///
    /// - Returns: how many records it resealed.
    private func reseal(_ vault: Vault, _ broken: inout BrokenRecords) async throws -> Int {
        var (count, found) = (0, BrokenRecords())
        try await vault.store.forEachPage(of: VaultFilter(notSealedWith: vault.currentKey)) {
            page in
            for row in page.damaged { try found.add(row.error) }
            let good = try page.records.filter { try found.token(of: $0, in: vault) != nil }
            try vault.reseal(good)
            count += good.count
        }
        broken = found
        return count
    }
}

extension Vault {
    /// The keys, when one of them is newer than the one that seals.
    fileprivate var newerKeys: VaultKeyRing? { keys.newest ?? 0 > currentKey ? keys : nil }
}
