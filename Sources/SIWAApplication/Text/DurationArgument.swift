internal import SIWACommandTable
internal import SIWAJOSE

/// A duration such as `90s`, `15m`, `12h`, `30d`, or a combination, `1d12h`.
package struct DurationArgument: ParameterValue, Hashable {
    /// The duration that was given.
    package let duration: Duration

    /// Wraps a duration.
    package init(_ duration: Duration) { self.duration = duration }

    /// Reads `1d12h`.
    package init?(argument: String) {
        guard let duration = Duration(text: argument) else { return nil }
        self.init(duration)
    }

    /// A description of valid values.
    package static var expectation: String { "a duration such as 90s, 15m, 12h, 30d or 1d12h" }

    /// The shortest text of the duration.
    package var argumentDescription: String { duration.abbreviation }
}
