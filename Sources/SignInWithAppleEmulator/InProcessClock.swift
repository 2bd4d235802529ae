public import FoundationEssentials
internal import Synchronization

/// The clock of an ``InProcessApple``: give it to everything in a test, so that no test depends on the
/// day on which it runs.
///
/// ```swift
/// let vault = try await TokenVault(url: url, keys: keys, now: emulator.clock.now)
/// emulator.clock.advance(by: .seconds(3600))          // the access token has expired
/// ```
public final class InProcessClock: Sendable {
    private let moment: Mutex<Moment>

    private struct Moment: Sendable {
        var offset: TimeInterval
        let frozenAt: Date?

        var now: Date { (frozenAt ?? Date()).addingTimeInterval(offset) }
    }

    /// Creates a clock.
    ///
    /// - Parameter start: where it stands until ``advance(by:)``; nil runs with the system's clock.
    public init(startingAt start: Date? = nil) {
        moment = Mutex(Moment(offset: 0, frozenAt: start))
    }

    /// The time.
    @Sendable public func now() -> Date { moment.withLock { $0.now } }

    /// Sets the clock forward, or back.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        moment.withLock { $0.offset += Double(seconds) + Double(attoseconds) / 1e18 }
    }
}
