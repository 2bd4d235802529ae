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
        """
    static let examples = [
        Example(
            "siwa batch refresh --input tokens.jsonl --output today.jsonl --rate 50/s",
            "Validate every token of a file, fifty a second.")
    ]
    static let parameters: [Parameter<Self>] =
        BatchOptions.parameters(at: \.batch) + [
            .flag(
                "dry-run", \.isDryRun,
                help: "Print the request of the first item with secrets masked; send nothing.")
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var batch = BatchOptions()
    var isDryRun = false

    func run(in world: World) async throws {
        let tokens = try TokenBatch(global, batch, request: "the refresh", in: world)
        guard !isDryRun else {
            return try await tokens.rehearse { [.refresh(RefreshToken($0.token))] }
        }
        let now = world.clocks.now
        let job = RefreshJob(
            tokens.requests.loaded.client, baseURL: tokens.requests.network.baseURL)
        try await tokens.runner.run(job, read: TokenBatch.readOpaque) { _, outcome in
            switch outcome {
            case .refused(let refusal): ItemReport(refused: refusal, "the refresh")
            case .done(let answer): ItemReport(.done, .done, answer.members(at: now()))
            }
        }
    }
}
