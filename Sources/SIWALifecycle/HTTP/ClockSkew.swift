package import SIWAJOSE

/// Apple's clock, as the `Date` of one of its answers shows it. A pure value.
///
/// Measured against the monotonic clock, so that it remains right when the wall clock is set.
package struct ClockSkew: Hashable, Sendable {
    /// Apple's time, in seconds since 1970, at the zero of the monotonic clock.
    private let origin: Duration
    private let measuredAt: Duration

    /// How long a measurement is used.
    package static let lifetime = Duration.seconds(3600)
    /// The longest round trip of a usable answer: half of it is the possible error.
    package static let maxRoundTrip = Duration.seconds(5)
    /// The difference beyond which a clock is wrong.
    package static let tolerance = Duration.seconds(5)

    /// Measures with an answer of Apple; nil if it does not show Apple's time, or took too long.
    ///
    /// - Parameters:
    ///   - sentAt: when the request was sent, by the monotonic clock.
    ///   - answeredAt: when the answer was complete, by the same clock.
    package init?(_ response: HTTPResponse, sentAt: Duration, answeredAt: Duration) {
        let roundTrip = answeredAt - sentAt
        guard let date = response.appleDate, roundTrip >= .zero, roundTrip < Self.maxRoundTrip
        else { return nil }
        origin = .seconds(date.seconds) - (sentAt + roundTrip / 2)
        measuredAt = answeredAt
    }

    /// Whether the measurement is still used.
    package func isFresh(at elapsed: Duration) -> Bool { elapsed - measuredAt < Self.lifetime }

    /// Apple's time at a moment of the monotonic clock, also an earlier one.
    package func time(at elapsed: Duration) -> NumericDate {
        let (seconds, fraction) = (origin + elapsed).components
        return NumericDate(Int(clamping: fraction < 0 ? seconds - 1 : seconds))
    }
}

extension HTTPResponse {
    /// The time at which Apple answered: `Date`, unless a cache answered in Apple's place (`Age`,
    /// RFC 9111 §5.1).
    package var appleDate: NumericDate? {
        guard fields["Age"] == nil,
            let date = fields["Date"].flatMap({ NumericDate(httpDate: $0) }),
            date.isWritable
        else { return nil }
        return date
    }
}

extension Duration {
    /// In words, for a difference of Apple's time and this machine's: "75 seconds behind Apple's".
    package var clockDifference: String {
        "\(words()) \(self < .zero ? "ahead of" : "behind") Apple's"
    }

    /// Whether it is a difference of a wrong clock.
    package var isWrongClock: Bool {
        self > ClockSkew.tolerance || self < .zero - ClockSkew.tolerance
    }
}
