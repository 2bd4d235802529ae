import SIWALifecycle
internal import Synchronization

/// A semaphore: a limited number of slots, which are assigned in the order of the calls.
final class RequestSlots: Sendable {
    private let most: Int
    private let mostWaiting: Int
    private let maxWait: Duration
    private let timekeeper: Timekeeper
    private let state = Mutex(State())

    private struct State {
        var taken = 0
        var last = 0
        var waiting: [(key: Int, resume: CheckedContinuation<Bool, Never>)] = []
    }

    /// - Parameters:
    ///   - most: the number of slots.
    ///   - mostWaiting: the number of callers that may wait.
    ///   - maxWait: how long a caller waits.
    init(
        most: Int = 64, mostWaiting: Int = 1024, maxWait: Duration = .seconds(10),
        timekeeper: Timekeeper = .system
    ) {
        (self.most, self.mostWaiting) = (most, mostWaiting)
        (self.maxWait, self.timekeeper) = (maxWait, timekeeper)
    }

    /// Waits for a slot.
    ///
    /// - Returns: false if none is free in time.
    func acquire() async -> Bool {
        let key = state.withLock { state in
            state.last += 1
            return state.last
        }
        let timer = Mutex<Task<Void, Never>?>(nil)
        let isAcquired = await withCheckedContinuation { continuation in
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
        return isAcquired
    }

    private func giveUp(_ key: Int) async {
        guard (try? await timekeeper.sleep(maxWait)) != nil else { return }
        let waiting = state.withLock { state in
            state.waiting.firstIndex { $0.key == key }.map { state.waiting.remove(at: $0) }
        }
        waiting?.resume.resume(returning: false)
    }

    /// Frees a slot, or passes it to the next caller.
    func release() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().resume }
            state.taken -= 1
            return nil
        }
        next?.resume(returning: true)
    }
}
