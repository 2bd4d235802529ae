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
        revoked again, which does no harm. --timeout bounds the wait for one answer. Too many \
        refusals are not believed: see --max-refused.

        --vault takes the tokens of the vault in place of --input: those of the client that are \
        active, or in the states that --state names, and what an earlier run left half done. Many \
        machines may run on one vault; what one of them took is kept from the others for the time \
        of --lease. After a crash the same call goes on: what may have been sent already is \
        refreshed first, and sent again only when it still works.
        """
    static let examples = [
        Example(
            "siwa batch revoke --input tokens.jsonl --output results.jsonl --confirm",
            "Revoke every token of a file, and make sure of each."),
        Example(
            "siwa batch revoke --input tokens.jsonl --output results.jsonl --confirm --resume",
            "Go on after an interruption."),
        Example(
            "siwa batch revoke --vault --state account_deleted --output purge.jsonl",
            "Revoke what the vault has of deleted accounts."),
    ]
    static let parameters: [Parameter<Self>] =
        BatchOptions.brakedParameters(at: \.batch) + VaultSelection.parameters(at: \.selection) + [
            .flag("confirm", \.isConfirmed, help: "Prove by a refresh that each token is dead."),
            .flag(
                "dry-run", \.isDryRun,
                help: "Print the requests of the first item with secrets masked; send nothing."),
        ] + GlobalOptions.requestParameters(at: \.global)

    var global = GlobalOptions()
    var batch = BatchOptions()
    var selection = VaultSelection()
    var isConfirmed = false
    var isDryRun = false

    func run(in world: World) async throws {
        let tokens = try TokenBatch(
            global, batch, selection, request: .revocation, mark: .revoked, in: world)
        let claim = try selection.vault.map { _ in
            try selection.claim(
                tokens.runner.session, tokens.clientID, batch, states: [.active],
                interrupted: .revoking, intent: .revocationBegun)
        }
        guard !isDryRun else {
            let proof: Revocation.Proof = isConfirmed ? .afterwards : .none
            return try await tokens.rehearse(claim) { token in
                proof.steps.map { $0.request(token.text, .refreshToken) }
            }
        }
        let job = RevokeJob(
            tokens.requests.client.secrets, baseURL: tokens.requests.network.baseURL,
            isConfirming: isConfirmed)
        let describe = description(clientID: tokens.clientID, at: world.clocks.now)
        guard let claim else {
            return try await tokens.runner.run(
                job, read: tokens.read, describe: describe)
        }
        try await tokens.runner.run(
            job, claiming: claim,
            event: { outcome in
                guard case .done(let revocation) = outcome, revocation.isDead else { return nil }
                return NotedEvent(event: .revoked, details: VaultEventDetails(revocation))
            }, describe: describe)
    }

    /// What the line of an item says of its outcome.
    private func description(
        clientID: ClientID, at now: @escaping @Sendable () -> NumericDate
    ) -> @Sendable (TokenItem, ItemOutcome<Revocation>) -> ItemReport {
        { item, outcome in
            switch outcome {
            case .refused(let refusal):
                ItemReport(refused: refusal, .revocation).identifying(item.fingerprint)
            case .done(let revocation):
                ItemReport(
                    revocation.isDead ? .done : .refused, revocation.isDead ? .done : .no,
                    RevocationReport(
                        revocation, of: item.token, .refreshToken, item.clientID ?? clientID,
                        at: now()
                    ).members)
            }
        }
    }
}
