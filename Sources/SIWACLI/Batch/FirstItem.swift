internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

extension BatchRunner {
    /// The first line of the input that is an item, for a dry run. Writes no file.
    func firstItem<Item>(
        hint: String,
        _ read: (SecretBytes, Int) throws(InvalidLine) -> (item: Item, id: JSON?)
    ) async throws -> Item {
        let news = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let source = try world.streams.lines(options.input?.path) { news.continuation.yield() }
        while true {
            switch source.next() {
            case .notYet: for await _ in news.stream { break }
            case .end(let failure):
                if let failure { throw failure }
                throw NegativeAnswer("no_items", "the input has no item", hints: [hint])
            case .lines(let lines):
                for line in lines {
                    if let bytes = line.bytes, let first = try? read(bytes, line.number).item {
                        return first
                    }
                }
            }
        }
    }
}
