internal import CommandTable
internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// What the batches of opaque tokens share.
struct TokenBatch: Sendable {
    let runner: BatchRunner
    let requests: Requests

    init(
        _ global: GlobalOptions, _ options: BatchOptions, request: String, in world: World
    ) throws {
        let session = try Session(TypedSettings(global: global), in: world)
        requests = try Requests(session)
        runner = try BatchRunner(session, options, request: request, situation: requests.situation)
    }

    /// Reads a line that holds a refresh token.
    static func readOpaque(
        _ line: SecretBytes, _ number: Int
    ) throws(InvalidLine) -> (item: TokenItem, id: JSON?) {
        let item = try TokenItem(
            line, line: number, tokenNames: ["token", "refresh_token"], refusal: misshape)
        return (item, item.id)
    }

    /// Prints what would be sent for the first item. Sends nothing and writes no file.
    func rehearse(_ sequence: (TokenItem) -> [TokenRequest]) async throws {
        let first = try await runner.firstItem(hint: "give a token a line", Self.readOpaque)
        try requests.rehearse(sequence(first))
    }
}
