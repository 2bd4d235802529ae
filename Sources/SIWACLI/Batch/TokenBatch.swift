internal import CommandTable
internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// What the batches of opaque tokens share.
struct TokenBatch: Sendable {
    let runner: BatchRunner
    let requests: Requests

    init(
        _ global: GlobalOptions, _ options: BatchOptions, _ selection: VaultSelection,
        request: RequestKind, mark: ResultMark, in world: World
    ) throws {
        try selection.check(options)
        let session = try Session(
            TypedSettings(global: global, vault: selection.vault), in: world)
        requests = try Requests(session)
        var runner = try BatchRunner(
            session, options, request: request, mark: mark, needsInput: selection.vault == nil,
            situation: requests.situation)
        runner.brake = .share(percent: options.maxRefused.percent)
        self.runner = runner
    }

    /// Of which client.
    var clientID: ClientID { requests.client.clientID }

    /// Reads a line that holds a refresh token of a client that this run can speak for.
    var read: ItemReading {
        let only = requests.client.onlyClientID
        return { line, number throws(InvalidLine) in
            let (item, id) = try Self.readOpaque(line, number)
            if let only, let own = item.clientID, own != only {
                throw InvalidLine(
                    id, "'client_id' is \(own), and the client_secret is for \(only)")
            }
            return (item, id)
        }
    }

    typealias ItemReading =
        @Sendable (SecretBytes, Int) throws(InvalidLine) -> (item: TokenItem, id: JSON?)

    /// Reads a line that holds a refresh token.
    static func readOpaque(
        _ line: SecretBytes, _ number: Int
    ) throws(InvalidLine) -> (item: TokenItem, id: JSON?) {
        let item = try TokenItem(
            line, line: number, tokenNames: ["token", "refresh_token"])
        return (item, item.id)
    }

    /// Prints what would be sent for the first item. Sends nothing, claims nothing and writes no
    /// file.
    func rehearse(
        _ claim: VaultClaim?, _ sequence: (RefreshToken) -> [TokenRequest]
    ) async throws {
        guard let claim else {
            let first = try await runner.firstItem(hint: "give a token a line", read)
            return try requests.rehearse(sequence(RefreshToken(first.token)))
        }
        let records = try claim.vault.store.records(claim.filter, after: nil, limit: 1)
        guard let first = records.records.first else {
            throw NegativeAnswer(
                "no_items", "the vault has no such record",
                hints: ["'siwa vault list' shows what there is; --state and --client-id choose"])
        }
        try requests.rehearse(sequence(try claim.vault.token(of: first)))
    }
}
