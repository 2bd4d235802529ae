internal import CommandTable
internal import SignInWithApple

/// A user's token out of the vault, and the way to tell the vault what became of it.
struct StoredToken: Sendable {
    let token: RefreshToken
    /// As it was when the token was taken out.
    let record: VaultRecord
    private let vault: Vault
    private let clocks: Clocks

    /// - Throws: ``NegativeAnswer`` when the vault has no token of this user.
    init(of userID: String, _ session: Session) throws {
        let user = try session.vaultUser(userID)
        vault = try session.vault()
        clocks = session.world.clocks
        guard let record = try vault.store.newestRecord(of: user) else {
            throw try NegativeAnswer.noRecord(of: user, in: vault.store)
        }
        self.record = record
        token = try vault.token(of: record)
    }

    /// Notes what happened to this very token.
    func note(
        _ event: VaultEvent, _ details: VaultEventDetails = VaultEventDetails()
    ) throws(VaultError) {
        try vault.note([VaultNote(record, event, details)], at: clocks.now())
    }
}

/// How a token is named: itself, or by the user it was stored for.
struct TokenOptions: Sendable {
    var token: SecretArgument?
    var user: String?
    var vault: VaultArgument?

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        all.map { $0.rerooted(at: path) }
    }

    private static let all: [Parameter<Self>] = [
        .option("token", \.token, value: "TOKEN", help: "The token."),
        .option(
            "user", \.user, value: "ID",
            help: "Take the token of this user (user_id) out of the vault, in place of --token."),
        VaultArgument.option(\.vault),
    ]

    /// Finds what cannot be asked for together.
    func check() throws(UsageError.Problem) {
        guard vault == nil || user != nil else {
            throw UsageError.Problem.misuse(
                "--vault goes with --user", hint: "say whose token is meant: --user ID")
        }
    }
}
