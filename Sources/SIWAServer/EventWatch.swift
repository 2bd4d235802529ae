internal import SIWALifecycle
internal import SIWAServerRecords
internal import Synchronization

/// Lets callers wait for the next event. However many wait, the database is asked once a second:
/// another replica may have received the event.
final class EventWatch: Sendable {
    /// The place of the newest event; nil if the database does not answer.
    typealias Look = @Sendable () async -> EventCursor?

    private struct State {
        var waiting = 0
        var isLooking = false
        var hasStopped = false
        var newest: EventCursor?
    }

    private let look: Look
    private let timekeeper: Timekeeper
    private let news = WakeSignal()
    private let state = Mutex(State())

    init(_ timekeeper: Timekeeper, _ look: @escaping Look) {
        (self.timekeeper, self.look) = (timekeeper, look)
    }

    /// The number of changes so far, to be read before the events are.
    var count: Int { news.count }

    /// Waits until the newest event is another one.
    ///
    /// - Parameter count: ``count`` before the events were read.
    /// - Returns: whether to read them again: false after the time limit, and at the end of the
    ///   process.
    func waitForNews(after count: Int, atMost limit: Duration) async -> Bool {
        let (mustLook, hasStopped) = state.withLock { state in
            guard !state.hasStopped else { return (false, true) }
            state.waiting += 1
            defer { state.isLooking = true }
            return (!state.isLooking, false)
        }
        guard !hasStopped else { return false }
        if mustLook { Task { await lookWhileWaiting() } }
        await news.wait(after: count, atMost: limit)
        return state.withLock { state in
            state.waiting -= 1
            return !state.hasStopped && news.count > count
        }
    }

    /// Ends all waits, because the process ends.
    func stop() {
        state.withLock { $0.hasStopped = true }
        news.notify()
    }

    private func lookWhileWaiting() async {
        repeat {
            if let newest = await look(), isOther(newest) { news.notify() }
            try? await timekeeper.sleep(.seconds(1))
        } while goesOn
    }

    private func isOther(_ newest: EventCursor) -> Bool {
        state.withLock { state in
            defer { state.newest = newest }
            return state.newest != newest
        }
    }

    private var goesOn: Bool {
        state.withLock { state in
            state.isLooking = state.waiting > 0 && !state.hasStopped
            return state.isLooking
        }
    }
}
