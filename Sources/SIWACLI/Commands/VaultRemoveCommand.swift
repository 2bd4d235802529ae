internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// `siwa vault remove`: removes a user's tokens.
struct VaultRemoveCommand: Command {
    static let name = "vault remove"
    static let abstract = "Remove a user's tokens from the vault permanently."
    static let discussion = """
        Removes the tokens from the vault only: to revoke them at Apple, run 'siwa revoke --user' \
        first. The client is the one of the settings. No key is needed, so tokens that cannot be \
        decrypted can be removed too.

        The history remains. --erase deletes it too, under all user ids that the user has had.
        """
    static let examples = [
        Example("siwa vault remove 001234.0a1b2c.0001", "Remove a user whose tokens are revoked."),
        Example("siwa vault remove 001234.0a1b2c.0001 --erase", "Remove the history as well."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand("USER", \.$user, help: "The user."),
            .flag("erase", \.isErasing, help: "Delete the user's history as well."),
            VaultArgument.option(\.vault),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var user: String
    var isErasing = false
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try global.output.checkPrinted(
            among: ["removed", "erased", "client_id", "user_id", "tokens", "other_clients"])
        let session = try Session(global, vault: vault, in: world)
        let user = try session.vaultUser(user)
        let store = try session.vaultStore()
        try session.requireAllTokensStored(of: user)
        let otherClients = try store.otherClients(of: user)
        let hasHistory = try isErasing && store.hasHistory(of: user)
        let removed = try world.ending.completing {
            try KeylessVault(store, by: world.actor)
                .remove(user, isErasing: isErasing, at: world.clocks.now())
        }
        guard !removed.isEmpty || hasHistory else {
            throw Diagnosis.noRecord(of: user, otherClients)
        }
        session.warn(ofOtherClients: otherClients)
        warn(about: removed, session)
        try session.report(
            Report(
                .object(members(removed, user) + .otherClients(otherClients)),
                of: Deed(
                    "the tokens were removed from the vault",
                    hint: "'siwa vault show' confirms it")))
    }

    private func warn(about removed: VaultPage, _ session: Session) {
        let live = removed.records.filter { [.active, .revoking].contains($0.state) }
        guard let first = live.first else { return }
        session.console.warn(
            live.count == 1
                ? "the token was \(first.state.rawValue): without another copy, it can no longer be "
                    + "revoked"
                : "\(live.count) tokens were active or revoking: without other copies, they can no "
                    + "longer be revoked")
    }

    private func members(_ removed: VaultPage, _ user: VaultUser) -> [JSON.Member] {
        let tokens = removed.records.map { JSON.object([$0.fingerprintMember, $0.stateMember]) }
        let damaged = removed.damaged.map { _ -> JSON in
            ["token_fingerprint": .null, "state": .null]
        }
        return [.init("removed", .boolean(!removed.isEmpty)), .init("erased", .boolean(isErasing))]
            + user.members + [.init("tokens", .array(tokens + damaged))]
    }
}

extension VaultStore {
    /// Whether the history has entries about a user's tokens.
    fileprivate func hasHistory(of user: VaultUser) throws(StoreError) -> Bool {
        let filter = VaultHistoryFilter(userID: user.userID, clientID: user.clientID)
        let page = try history(filter, after: nil, limit: 1)
        return !page.entries.isEmpty || !page.damaged.isEmpty
    }
}
