internal import CommandTable
internal import SignInWithApple

/// `siwa vault remove`: forget one token.
struct VaultRemoveCommand: Command {
    static let name = "vault remove"
    static let abstract = "Take one user's token out of the vault, for good."
    static let discussion = """
        Apple hears nothing of it: to end the token there, run 'siwa revoke --user' first. The \
        client is the one of the settings. No key is needed, so that a record that does not open \
        any more can be taken out as well; with the key, the result has the token's fingerprint.
        """
    static let examples = [
        Example("siwa vault remove 001234.0a1b2c.0001", "Forget a user whose token is revoked.")
    ]
    static let parameters: [Parameter<Self>] =
        [.operand("USER", \.$user, help: "The user."), VaultArgument.option(\.vault)]
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var user: String
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try global.checkPrinted(
            among: ["removed", "client_id", "user_id", "state", "token_fingerprint"])
        let session = try Session(TypedSettings(global: global, vault: vault), in: world)
        let user = try session.vaultUser(user)
        let store = try session.vaultStore()
        let removed = try KeylessVault(store, by: world.actor)
            .remove(user, at: world.clocks.now()).records
        guard let record = removed.first else {
            throw try NegativeAnswer.noRecord(of: user, in: store)
        }
        if [.active, .revoking].contains(record.state) {
            session.console.warn(
                "the token was \(record.state.rawValue): unless it is kept elsewhere, "
                    + "nobody can revoke it any more")
        }
        // The keys may be lost; that is one reason to be here.
        let token = (try? session.vaultKeys()).flatMap { try? $0.open(record) }
        let fingerprint = token.map {
            [JSON.Member("token_fingerprint", .string($0.text.fingerprint))]
        }
        try session.report(
            Report(
                .object(
                    [.init("removed", true)] + record.userMembers
                        + [.init("state", .string(record.state.rawValue))] + (fingerprint ?? []))))
    }
}
