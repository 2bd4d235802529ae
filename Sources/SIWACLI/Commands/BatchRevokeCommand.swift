internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// `siwa batch revoke`: revokes many tokens.
struct BatchRevokeCommand: Command {
    static let name = "batch revoke"
    static let abstract = "Revoke many refresh tokens."
    static let discussion = """
        Each input line is one item: a refresh token, or JSON {"id", "token", "client_id"?}. Each \
        output line is the result of one item, written when it finishes: {"line", "id", "status", \
        "exit_code", …} with what 'siwa revoke' prints, or the error. The status is done, refused \
        (by Apple), failed (temporarily, after all retries) or invalid (the line is not an item).

        429 and 5xx slow down the whole run. invalid_client stops it. To continue a run after an \
        interruption, even a power failure, add --resume; items that were in flight are revoked \
        again, which is harmless. --timeout limits the wait for one response. Too many refusals \
        stop the run: see --max-refused.

        Apple answers 200 to anything, so a text that cannot be a token is invalid, and one without \
        the shape of Apple's tokens is sent with "unusual":true: a refused refresh proves nothing of \
        it. Such items wait until 100 items are read or the input ends; if they are more than half, \
        none of them is sent: see --allow-unusual.

        --vault reads the tokens from the vault in place of --input: the client's active tokens, or \
        those in the states of --state, and revocations that an earlier run did not complete. Many \
        machines may work on one vault; tokens that one of them revokes are not available to the \
        others for the time of --lease, and tokens that one only refreshes are. After a crash, run the same command again: tokens that \
        may have been sent are refreshed first, and revoked again only if they still work.
        """
    static let examples = [
        Example(
            "siwa batch revoke --input tokens.jsonl --output results.jsonl --confirm",
            "Revoke every token of a file, with proof."),
        Example(
            "siwa batch revoke --input tokens.jsonl --output results.jsonl --confirm --resume",
            "Continue after an interruption."),
        Example(
            "siwa batch revoke --vault --state account_deleted --output purge.jsonl",
            "Revoke the tokens of deleted accounts in the vault."),
    ]
    static let parameters: [Parameter<Self>] =
        BatchOptions.revokingParameters(at: \.batch) + VaultSelection.parameters(at: \.selection)
        + [
            .flag(
                "confirm", \.isConfirmed,
                help: "Refresh afterwards, to prove that each token no longer works."),
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
            return try await tokens.dryRun(claim) { token in
                proof.steps.map { $0.request(token.text, .refreshToken) }
            }
        }
        let job = RevokeJob(
            tokens.requests.secrets, baseURL: tokens.requests.network.baseURL,
            isConfirming: isConfirmed)
        let describe = description(clientID: tokens.clientID, at: world.clocks.now)
        guard let claim else {
            return try await tokens.runner.run(
                job, read: tokens.read, describe: describe)
        }
        try await tokens.runner.run(
            job, claiming: claim,
            event: { outcome in
                if case .done(let revocation) = outcome { NotedEvent(revocation) } else { nil }
            }, describe: describe)
        if selection.states.isEmpty || selection.states.contains(.active) {
            try tokens.runner.session.requireAllTokensStored(of: tokens.clientID)
        }
    }

    /// The result of an item for its line.
    private func description(
        clientID: ClientID, at now: @escaping @Sendable () -> NumericDate
    ) -> @Sendable (TokenItem, ItemOutcome<Revocation>) -> ItemReport {
        { item, outcome in
            switch outcome {
            case .refused(let refusal):
                ItemReport(refused: refusal, .revocation).identifying(item.fingerprint)
            case .done(let revocation):
                Self.report(
                    revocation,
                    RevocationReport(
                        revocation, of: item.token, .refreshToken, item.clientID ?? clientID,
                        at: now()
                    ).members)
            }
        }
    }

    private static func report(_ revocation: Revocation, _ members: [JSON.Member]) -> ItemReport {
        guard !revocation.isUnproven else {
            let message = "\(Revocation.unprovenMessage); \(Revocation.unprovenHint)"
            return ItemReport(.refused, .no, members, error: .error(.notConfirmed, message))
        }
        return ItemReport(
            revocation.isDead ? .done : .refused, revocation.isDead ? .done : .no, members)
    }
}
