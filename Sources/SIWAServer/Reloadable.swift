internal import Synchronization

/// A value that SIGHUP replaces.
final class Reloadable<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    /// Creates a holder with its first value.
    init(_ value: Value) { state = Mutex(value) }

    var current: Value { state.withLock { $0 } }

    /// Replaces the value.
    func replace(with value: Value) { state.withLock { $0 = value } }
}
