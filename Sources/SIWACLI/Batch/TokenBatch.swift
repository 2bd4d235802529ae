internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords

/// The common part of the batches of opaque tokens.
struct TokenBatch: Sendable {
    let runner: BatchRunner
    let requests: Requests

    init(
        _ global: GlobalOptions, _ options: BatchOptions, _ selection: VaultSelection,
        request: RequestKind, mark: ResultMark, in world: World
    ) throws {
        try world.metrics.begin(options.metrics, global, in: world)
        try selection.check(options)
        let session = try Session(global, vault: selection.vault, in: world)
        requests = try Requests(session)
        var runner = try BatchRunner(
            requests, options, request: request, mark: mark,
            BatchOrigin(
                clientID: requests.client.clientID, baseURL: requests.network.baseURL),
            needsInput: selection.vault == nil)
        runner.brake = .share(percent: options.maxRefused.percent)
        self.runner = runner
    }

    /// The client of the tokens.
    var clientID: ClientID { requests.client.clientID }

    /// Reads a line with a refresh token of a client that this run can authenticate as.
    var read: ItemReading<TokenItem> {
        let only = requests.client.onlyClientID
        let kind: TokenKind? = runner.request == .revocation ? .refreshToken : nil
        return { line, number throws(InvalidLine) in
            let item = try Self.readOpaque(line, number, judgedAs: kind)
            if let only, let own = item.clientID, own != only {
                throw InvalidLine(
                    item.id, "'client_id' is \(own), and the client_secret is for \(only)")
            }
            return item
        }
    }

    /// Reads a line with a refresh token.
    ///
    /// - Parameter kind: of a token that is to be revoked.
    @Sendable static func readOpaque(
        _ line: SecretBytes, _ number: Int, judgedAs kind: TokenKind? = nil
    ) throws(InvalidLine) -> TokenItem {
        try TokenItem(
            line, line: number, tokenNames: ["token", "refresh_token"], judgedAs: kind)
    }

    /// Prints what would be sent for the first item. Sends nothing, claims nothing and writes no
    /// file.
    func dryRun(
        _ claim: VaultClaim?, _ sequence: (RefreshToken) -> [TokenRequest]
    ) async throws {
        guard let claim else {
            let first = try await runner.firstItem(hint: "give one token per line", read)
            return try await requests.dryRun(sequence(RefreshToken(first.token)))
        }
        guard let first = try claim.vault.store.firstRecord(of: claim.filter) else {
            throw Diagnosis.negative(
                .noItems, "the vault has no such record",
                hints: ["'siwa vault list' lists the records; --state and --client-id select them"])
        }
        try await requests.dryRun(sequence(try claim.vault.token(of: first)))
    }
}
