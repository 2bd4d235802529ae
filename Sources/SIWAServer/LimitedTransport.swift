package import Lifecycle
internal import Synchronization

/// Lets so many requests travel at a time; others wait for their turn for a while.
package final class LimitedTransport: Transport {
    private let base: any Transport
    private let turns: Turns

    /// - Parameter turns: may be shared with other transports.
    package init(_ base: any Transport, _ turns: Turns) { (self.base, self.turns) = (base, turns) }

    /// Sends a request when it has its turn.
    package func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        guard await turns.take() else {
            throw TransportError(
                .resources, "too many requests are on their way already",
                requestMayHaveLeft: false)
        }
        defer { turns.giveBack() }
        return try await base.send(request, timeout: timeout)
    }
}

/// A number of turns, which are taken in the order in which they were asked for.
package final class Turns: Sendable {
    private let most: Int
    private let mostWaiting: Int
    private let patience: Duration
    private let timekeeper: Timekeeper
    private let state = Mutex(State())

    private struct State {
        var taken = 0
        var last = 0
        var waiting: [(key: Int, resume: CheckedContinuation<Bool, Never>)] = []
    }

    /// - Parameters:
    ///   - most: how many can be taken at a time.
    ///   - mostWaiting: how many may wait.
    ///   - patience: how long they wait.
    package init(
        most: Int = 64, mostWaiting: Int = 1024, patience: Duration = .seconds(10),
        timekeeper: Timekeeper = .system
    ) {
        (self.most, self.mostWaiting) = (most, mostWaiting)
        (self.patience, self.timekeeper) = (patience, timekeeper)
    }

    /// Waits for a turn.
    ///
    /// - Returns: false if there is none in time.
    func take() async -> Bool {
        let key = state.withLock { state in
            state.last += 1
            return state.last
        }
        let timer = Mutex<Task<Void, Never>?>(nil)
        let isTaken = await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> Bool? in
                if state.taken < most {
                    state.taken += 1
                    return true
                }
                guard state.waiting.count < mostWaiting else { return false }
                state.waiting.append((key, continuation))
                return nil
            }
            if let answer { return continuation.resume(returning: answer) }
            timer.withLock { $0 = Task { await self.giveUp(key) } }
        }
        timer.withLock { $0?.cancel() }
        return isTaken
    }

    private func giveUp(_ key: Int) async {
        guard (try? await timekeeper.sleep(patience)) != nil else { return }
        let waiting = state.withLock { state in
            state.waiting.firstIndex { $0.key == key }.map { state.waiting.remove(at: $0) }
        }
        waiting?.resume.resume(returning: false)
    }

    /// Passes a turn on.
    func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().resume }
            state.taken -= 1
            return nil
        }
        next?.resume(returning: true)
    }
}
