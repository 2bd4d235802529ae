internal import SIWAApplication
internal import SIWALifecycle
internal import SIWASystem
internal import Synchronization

/// Consecutive lines of the input, and the number of their group from 0.
struct LineGroup: Sendable {
    let number: Int
    let lines: [InputLine]
}

/// Gives the input to workers in groups of lines, a limited number ahead of the written results.
final class LineGroups: Sendable {
    private let source: any LineSource
    private let results: OrderedResults
    private let wake: WakeSignal
    private let isStopping: @Sendable () -> Bool
    private let state = Mutex(State())

    private struct State {
        var given = 0
        var isEnded = false
        var failure: FileError?
    }

    /// - Parameters:
    ///   - wake: notified when there is more input, or more room for output.
    ///   - isStopping: whether no further group should begin.
    init(
        _ source: any LineSource, _ results: OrderedResults, _ wake: WakeSignal,
        isStopping: @escaping @Sendable () -> Bool
    ) {
        (self.source, self.results, self.wake) = (source, results, wake)
        self.isStopping = isStopping
    }

    /// Why reading the input failed; nil if it did not.
    var failure: FileError? { state.withLock { $0.failure } }

    /// The next group; nil at the end of the input, or when the run is stopping.
    func next() async -> LineGroup? {
        while true {
            let seen = wake.count
            switch take() {
            case .group(let group): return group
            case .later: await wake.wait(after: seen)
            case .never: return nil
            }
        }
    }

    /// Prevents further groups.
    func end() {
        state.withLock { $0.isEnded = true }
        wake.notify()
    }

    private enum Turn {
        case group(LineGroup)
        case later
        case never
    }

    private func take() -> Turn {
        guard !isStopping() else { return .never }
        return state.withLock { state in
            guard !state.isEnded else { return .never }
            // A slow reader of the results slows the run down.
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
