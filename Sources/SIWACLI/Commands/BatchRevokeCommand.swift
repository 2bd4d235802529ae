internal import CommandTable
internal import SIWACrypto
internal import SignInWithApple

/// `siwa batch revoke`: have Apple forget many tokens.
struct BatchRevokeCommand: Command {
    static let name = "batch revoke"
    static let abstract = "Revoke many refresh tokens, as a purge of accounts demands."
    static let discussion = """
        Reads an item a line: a bare refresh token, or JSON {"id", "token", "client_id"?}. Writes a \
        line of JSON an item as it finishes: {"line", "id", "status", "exit_code", …} with the \
        status done, refused (Apple said no to this item), failed (temporary, after its retries) or \
        invalid (the line is no item), and what 'siwa revoke' would print, or the error.

        429 and 5xx slow the whole run down. invalid_client stops it at once. A run that was \
        stopped, even by a power cut, goes on with --resume; an item that was in flight is \
        revoked again, which does no harm. --timeout bounds the wait for one answer.
        """
    static let examples = [
        Example(
            "siwa batch revoke --input tokens.jsonl --output results.jsonl --confirm",
            "Revoke every token of a file, and make sure of each."),
        Example(
            "siwa batch revoke --input tokens.jsonl --output results.jsonl --confirm --resume",
            "Go on after an interruption."),
    ]
    static let parameters: [Parameter<Self>] =
        BatchOptions.parameters(at: \.batch) + [
            .flag("confirm", \.isConfirmed, help: "Prove by a refresh that each token is dead."),
            .flag(
                "dry-run", \.isDryRun,
                help: "Print the requests of the first item with secrets masked; send nothing."),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var batch = BatchOptions()
    var isConfirmed = false
    var isDryRun = false

    func run(in world: World) async throws {
        let tokens = try TokenBatch(global, batch, request: "the revocation", in: world)
        guard !isDryRun else {
            return try await tokens.rehearse { item in
                [.revoke(item.token, .refreshToken)]
                    + (isConfirmed ? [.refresh(RefreshToken(item.token))] : [])
            }
        }
        let client = tokens.requests.loaded.client
        let now = world.clocks.now
        let job = RevokeJob(
            client, baseURL: tokens.requests.network.baseURL, isConfirming: isConfirmed)
        try await tokens.runner.run(job, read: TokenBatch.readOpaque) { item, outcome in
            switch outcome {
            case .refused(let refusal): ItemReport(refused: refusal, "the revocation")
            case .done(let revocation):
                ItemReport(
                    revocation.isRevoked ? .done : .refused, revocation.isRevoked ? .done : .no,
                    revocation.members(
                        .refreshToken, item.clientID ?? client.clientID, item.token, at: now()))
            }
        }
    }
}
