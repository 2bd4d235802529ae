internal import LocalFiles

/// Lines of a result as they become known: never more in memory than a reader is slow to take.
struct OutputLines: Sendable {
    private let sink: any LineSink
    private let news: News

    /// - Parameter path: nil for standard output; else a file that is empty or not there yet.
    init(to path: String?, in world: World) throws(FileError) {
        let news = News()
        sink = try world.streams.results(path, nil, news.ring)
        self.news = news
    }

    /// Adds whole lines, once there is room for them.
    func write(_ lines: [UInt8]) async throws(FileError) {
        while true {
            let seen = news.count
            if let failure = sink.failure { throw failure }
            guard sink.isFull else { break }
            await news.next(after: seen)
        }
        sink.append(lines)
    }

    /// Writes what is left.
    func close() throws(FileError) { try sink.close() }
}

extension World {
    /// Goes through the lines of a file, or of standard input, as they come.
    func forEachLines(
        of path: String?, _ body: ([InputLine]) throws -> Void
    ) async throws {
        let news = News()
        let source = try streams.lines(path, news.ring)
        while true {
            let seen = news.count
            switch source.next() {
            case .lines(let lines): try body(lines)
            case .notYet: await news.next(after: seen)
            case .end(let failure):
                if let failure { throw failure }
                return
            }
        }
    }
}
