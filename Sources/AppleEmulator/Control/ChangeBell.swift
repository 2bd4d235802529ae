/// Those who wait for something to happen in the emulator.
struct ChangeBell {
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastID = 0

    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func add(_ id: Int, _ continuation: CheckedContinuation<Void, Never>) {
        waiting[id] = continuation
    }

    /// Wakes everybody.
    mutating func ring() {
        guard !waiting.isEmpty else { return }
        let woken = waiting.values
        waiting = [:]
        for continuation in woken { continuation.resume() }
    }

    /// Wakes one.
    mutating func wake(_ id: Int) { waiting.removeValue(forKey: id)?.resume() }
}

extension AppleEmulator {
    /// Returns when a request was answered or a control request carried out, when `limit` is
    /// over, or when the task is cancelled.
    ///
    /// Check the condition after calling this: a wake-up does not say what has changed.
    func waitForChange(atMost limit: Duration) async {
        let id = bell.nextID()
        let timer = Task {
            try? await Task.sleep(for: limit)
            self.bell.wake(id)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { bell.add(id, $0) }
        } onCancel: {
            timer.cancel()
        }
        timer.cancel()
    }
}
