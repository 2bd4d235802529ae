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
        let news = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let world = runner.session.world
        let source = try world.streams.lines(runner.options.input.path) {
            news.continuation.yield()
        }
        while true {
            switch source.next() {
            case .notYet: for await _ in news.stream { break }
            case .end(let failure):
                if let failure { throw failure }
                throw NegativeAnswer(
                    "no_items", "the input has no item", hints: ["give a token a line"])
            case .lines(let lines):
                let items = lines.lazy.compactMap { line in
                    line.bytes.flatMap { try? Self.readOpaque($0, line.number).item }
                }
                if let first = items.first { return try requests.rehearse(sequence(first)) }
            }
        }
    }
}
