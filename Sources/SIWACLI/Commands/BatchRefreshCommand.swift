internal import CommandTable
internal import SIWACrypto
internal import SignInWithApple

/// `siwa batch refresh`: validate many refresh tokens.
struct BatchRefreshCommand: Command {
    static let name = "batch refresh"
    static let abstract = "Validate many refresh tokens, as a daily check does."
    static let discussion = """
        Reads and writes as 'siwa batch revoke' does; an item that is done has what 'siwa refresh' \
        would print. The results hold access tokens: the file is for its owner alone.

        Apple wants a refresh at most once a day for each user.

        --vault takes the tokens of the vault in place of --input, and notes what Apple said of \
        each: a refused token is dead from then on. Many machines may run on one vault.
        """
    static let examples = [
        Example(
            "siwa batch refresh --input tokens.jsonl --output today.jsonl --rate 50/s",
            "Validate every token of a file, fifty a second."),
        Example(
            "siwa batch refresh --vault --not-checked-for 24h --output today.jsonl",
            "Validate what is stored, at most once a day."),
    ]
    static let parameters: [Parameter<Self>] =
        BatchOptions.brakedParameters(at: \.batch) + VaultSelection.parameters(at: \.selection) + [
            .flag(
                "dry-run", \.isDryRun,
                help: "Print the request of the first item with secrets masked; send nothing.")
        ] + GlobalOptions.requestParameters(at: \.global)

    var global = GlobalOptions()
    var batch = BatchOptions()
    var selection = VaultSelection()
    var isDryRun = false

    func run(in world: World) async throws {
        let tokens = try TokenBatch(
            global, batch, selection, request: .refresh, mark: .accessToken, in: world)
        let now = world.clocks.now
        let claim = try selection.vault.map { _ in
            // What this run, or one beside it, has checked is not checked again.
            try selection.claim(
                tokens.runner.session, tokens.clientID, batch, states: [.active],
                notCheckedSince: now())
        }
        guard !isDryRun else { return try await tokens.rehearse(claim) { [.refresh($0)] } }
        let job = RefreshJob(
            tokens.requests.client.secrets, baseURL: tokens.requests.network.baseURL)
        let describe: @Sendable (TokenItem, ItemOutcome<TokenResponse>) -> ItemReport = {
            let report =
                switch $1 {
                case .refused(let refusal): ItemReport(refused: refusal, .refresh)
                case .done(let answer):
                    ItemReport(
                        .done, .done,
                        answer.members(at: now()).filter { $0.name != "token_fingerprint" })
                }
            return report.identifying($0.fingerprint)
        }
        guard let claim else {
            return try await tokens.runner.run(
                job, read: tokens.read, describe: describe)
        }
        try await tokens.runner.run(
            job, claiming: claim,
            event: { outcome in
                switch outcome {
                case .done: .refreshed
                case .refused(let refusal):
                    refusal.code == .invalidGrant ? .refreshRefused : nil
                }
            }, describe: describe)
    }
}
