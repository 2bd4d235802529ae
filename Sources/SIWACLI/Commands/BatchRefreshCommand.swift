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

        --vault takes the newest token of each user of the vault in place of --input, with --all \
        every token, and notes what Apple said of each: a refused token is dead from then on. Many \
        machines may run on one vault; --rate limits each of them.

        Too many refusals are not believed: see --max-refused.
        """
    static let examples = [
        Example(
            "siwa batch refresh --input tokens.jsonl --output today.jsonl --rate 50/s",
            "Validate every token of a file, fifty a second."),
        Example(
            "siwa batch refresh --vault --not-checked-for 23h --output today.jsonl",
            "Validate what is stored, once a day; 23h because a job may begin late."),
    ]
    static let parameters: [Parameter<Self>] =
        BatchOptions.brakedParameters(at: \.batch) + VaultSelection.parameters(at: \.selection) + [
            .flag(
                "all", \.isEveryToken,
                help: "With --vault: take every token of a user, not only the newest."),
            .flag(
                "dry-run", \.isDryRun,
                help: "Print the request of the first item with secrets masked; send nothing."),
        ] + GlobalOptions.requestParameters(at: \.global)

    var global = GlobalOptions()
    var batch = BatchOptions()
    var selection = VaultSelection()
    var isEveryToken = false
    var isDryRun = false

    func run(in world: World) async throws {
        guard !isEveryToken || selection.vault != nil else {
            throw UsageError.Problem.misuse("--all goes with --vault", hint: "add --vault")
        }
        let tokens = try TokenBatch(
            global, batch, selection, request: .refresh, mark: .accessToken, in: world)
        let now = world.clocks.now
        let claim = try selection.vault.map { _ in
            // What this run, or one beside it, has checked is not checked again.
            try selection.claim(
                tokens.runner.session, tokens.clientID, batch, states: [.active],
                notCheckedSince: now(), isNewestOnly: !isEveryToken)
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
                case .done(let answer):
                    NotedEvent(
                        event: .refreshed,
                        details: VaultEventDetails(appleRequestID: answer.requestID))
                case .refused(let refusal) where refusal.code == .invalidGrant:
                    NotedEvent(
                        event: .refreshRefused,
                        details: VaultEventDetails(
                            evidence: .refreshRejected, httpStatus: refusal.status,
                            appleRequestID: refusal.requestID))
                case .refused: nil
                }
            }, describe: describe)
    }
}
