internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import Synchronization

/// When this process received the payloads that wait to be verified, by the monotonic clock: the
/// stored times are those of a clock that may have been wrong, and was perhaps set since.
final class ReceiptTimes: Sendable {
    private let times = Mutex<[EventID: Duration]>([:])

    /// When a payload was received; nil if another process received it.
    subscript(id: EventID) -> Duration? { times.withLock { $0[id] } }

    func note(_ id: EventID, at moment: Duration) {
        times.withLock { times in
            // Others may have verified or erased the payloads of the oldest.
            if times.count >= NotificationReceiver.unverifiedCount,
                let oldest = times.min(by: { $0.value < $1.value })?.key
            {
                times[oldest] = nil
            }
            times[id] = moment
        }
    }

    func remove(_ id: EventID) { times.withLock { $0[id] = nil } }
}

extension AppleClock {
    /// When a waiting payload was received, by the clocks that are known.
    ///
    /// - Parameters:
    ///   - stored: the receipt by the clock of the machine that received it.
    ///   - elapsed: the receipt by this process's monotonic clock; nil if another process received
    ///     it. Its clock may have been wrong in another way than this one: then the payload was
    ///     received after Apple issued it, and within the days for which payloads wait.
    func receipt(
        of token: CompactJWS, storedAs stored: NumericDate, at elapsed: Duration?
    ) -> TokenTimes {
        guard let skew, let now = times.apple.first else { return TokenTimes(stored) }
        guard elapsed == nil else { return TokenTimes(stored, apple: elapsed.flatMap(time(at:))) }
        let issuedAt = token.claims.moment(.iat).flatMap { issuedAt in
            issuedAt <= now && now - issuedAt <= NotificationReceiver.maxAge ? issuedAt : nil
        }
        return TokenTimes(stored, apple: min(stored + skew, now), issuedAt)
    }
}
