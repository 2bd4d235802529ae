internal import LocalFiles
internal import Synchronization

/// Some lines of the input, as they came, and the number of the group among all groups.
struct LineGroup: Sendable {
    let number: Int
    let lines: [InputLine]
}

/// Gives the input out to workers, group by group, a bounded number ahead of what is written.
final class LineGroups: Sendable {
    private let source: any LineSource
    private let results: OrderedResults
    private let news: News
    private let wishesEnd: @Sendable () -> Bool
    private let state = Mutex(State())

    private struct State {
        var given = 0
        var isEnded = false
        var failure: FileError?
    }

    /// - Parameters:
    ///   - news: rings when there is more input, or more room for output.
    ///   - wishesEnd: whether nothing more should begin.
    init(
        _ source: any LineSource, _ results: OrderedResults, _ news: News,
        wishesEnd: @escaping @Sendable () -> Bool
    ) {
        (self.source, self.results, self.news) = (source, results, news)
        self.wishesEnd = wishesEnd
    }

    /// Why the input could not be read to its end; nil when it was, or is still being read.
    var failure: FileError? { state.withLock { $0.failure } }

    /// The next group; nil when there is none, or none should begin.
    func next() async -> LineGroup? {
        while true {
            let seen = news.count
            switch take() {
            case .group(let group): return group
            case .later: await news.next(after: seen)
            case .never: return nil
            }
        }
    }

    /// Lets nothing more begin.
    func end() {
        state.withLock { $0.isEnded = true }
        news.ring()
    }

    private enum Turn {
        case group(LineGroup)
        case later
        case never
    }

    private func take() -> Turn {
        guard !wishesEnd() else { return .never }
        return state.withLock { state in
            guard !state.isEnded else { return .never }
            // Whoever writes results slower than they come sets the pace.
            guard results.hasRoom(for: state.given) else { return .later }
            switch source.next() {
            case .notYet: return .later
            case .end(let failure):
                (state.isEnded, state.failure) = (true, failure)
                return .never
            case .lines(let lines):
                defer { state.given += 1 }
                return .group(LineGroup(number: state.given, lines: lines))
            }
        }
    }
}
