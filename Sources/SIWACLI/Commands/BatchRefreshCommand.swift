internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// `siwa batch refresh`: validates many refresh tokens.
struct BatchRefreshCommand: Command {
    static let name = "batch refresh"
    static let abstract = "Validate many refresh tokens."
    static let discussion = """
        Input and output are those of 'siwa batch revoke'; the result of an item has what 'siwa \
        refresh' prints. The results contain access tokens, so only the owner can read the file.

        Apple allows one refresh a day for each user.

        --vault refreshes the newest token of each user in the vault, or with --all every token, in \
        place of --input. The vault records the outcome: a refused token gets the state dead. Many \
        machines may work on one vault; --rate limits each of them.

        Too many refusals stop the run: see --max-refused.
        """
    static let examples = [
        Example(
            "siwa batch refresh --input tokens.jsonl --output today.jsonl --rate 50/s",
            "Validate every token of a file, fifty a second."),
        Example(
            "siwa batch refresh --vault --not-checked-for 23h --output today.jsonl",
            "Validate the stored tokens once a day; 23h because a job may start late."),
    ]
    static let parameters: [Parameter<Self>] =
        BatchOptions.brakedParameters(at: \.batch) + VaultSelection.parameters(at: \.selection) + [
            .flag(
                "all", \.isEveryToken,
                help: "With --vault: refresh every token of a user, not only the newest."),
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
            throw UsageError.Problem.misuse("--all needs --vault", hint: "add --vault")
        }
        let tokens = try TokenBatch(
            global, batch, selection, request: .refresh, mark: .accessToken, in: world)
        let now = world.clocks.now
        let claim = try selection.vault.map { _ in
            // Tokens that this run or a parallel one has checked are skipped.
            try selection.claim(
                tokens.runner.session, tokens.clientID, batch, states: [.active],
                notCheckedSince: now(), isNewestOnly: !isEveryToken)
        }
        guard !isDryRun else { return try await tokens.dryRun(claim) { [.refresh($0)] } }
        let job = RefreshJob(
            tokens.requests.secrets, baseURL: tokens.requests.network.baseURL)
        let describe: @Sendable (TokenItem, ItemOutcome<TokenResponse>) -> ItemReport = {
            let report =
                switch $1 {
                case .refused(let refusal): ItemReport(refused: refusal, .refresh)
                case .done(let answer):
                    ItemReport(
                        .done, .done,
                        answer.members(
                            at: now(),
                            reserving: BatchLayout.reservedNames + BatchOrigin.names
                                + ["token_fingerprint"]))
                }
            return report.identifying($0.fingerprint)
        }
        guard let claim else {
            return try await tokens.runner.run(
                job, read: tokens.read, describe: describe)
        }
        try await tokens.runner.run(
            job, claiming: claim, event: { NotedEvent(refresh: $0) }, describe: describe)
    }
}
