package import FoundationEssentials
package import SIWAJOSE
internal import SIWALifecycle

extension NumericDate {
    /// The whole second of a date.
    package init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        // Converting NaN or a double that is too large would trap.
        self.init(Int(exactly: seconds) ?? (seconds < 0 ? .min : .max))
    }

    /// The same moment as Foundation's type, in whole seconds.
    package var date: Date { Date(timeIntervalSince1970: Double(seconds)) }
}

extension Timekeeper {
    /// Measures and waits by `clock`.
    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        self.init(
            elapsed: { start.duration(to: clock.now) }, sleep: { try await clock.sleep(for: $0) })
    }
}
