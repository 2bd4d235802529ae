import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords

/// The API tokens, as last read. A pure value.
struct APITokenList: Sendable {
    private let tokens: [APIToken]
    /// The errors of unreadable rows.
    let damaged: [StoreError]
    /// When they were read, by the monotonic clock.
    let readAt: Duration

    /// A removed token stops working within this time.
    static let lifetime = Duration.seconds(5)

    /// - Parameter readAt: when reading started.
    init(_ tokens: [APIToken], damaged: [StoreError] = [], readAt: Duration) {
        (self.tokens, self.damaged, self.readAt) = (tokens, damaged, readAt)
    }

    /// Whether the list may still be used.
    func isFresh(at elapsed: Duration) -> Bool { elapsed - readAt < Self.lifetime }

    /// The token with a digest; nil if it is unknown or has expired. Digests are compared in
    /// constant time.
    func token(_ digest: [UInt8], at now: NumericDate) -> APIToken? {
        var found: APIToken?
        for token in tokens where isEqual(token.digest, digest) { found = token }
        guard let found, found.expiresAt.map({ $0 > now }) ?? true else { return nil }
        return found
    }

    private func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
