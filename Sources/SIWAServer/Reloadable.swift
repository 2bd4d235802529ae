internal import Synchronization

/// A value that SIGHUP replaces.
package final class Reloadable<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    /// Creates a holder with its first value.
    package init(_ value: Value) { state = Mutex(value) }

    /// The current value.
    package var current: Value { state.withLock { $0 } }

    /// Replaces the value.
    package func replace(with value: Value) { state.withLock { $0 = value } }
}
