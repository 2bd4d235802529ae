import Synchronization

/// A value that one thread at a time can access. Threads share it by reference, before the object
/// that owns it is complete; a `Mutex` cannot be shared in that way.
final class Locked<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) { mutex = Mutex(value) }

    func withLock<Result: Sendable>(
        _ body: (inout Value) throws -> Result
    ) rethrows -> Result {
        try mutex.withLock { try body(&$0) }
    }
}
