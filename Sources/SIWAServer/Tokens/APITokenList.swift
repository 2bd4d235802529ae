package import JOSE
package import ServerRecords

/// The tokens of the API as they were read last. A pure value.
package struct APITokenList: Sendable {
    private let tokens: [APIToken]
    /// When they were read, by the stopwatch.
    private let readAt: Duration

    /// A removed token stops to work within this time.
    static let lifetime = Duration.seconds(5)

    /// - Parameter readAt: when the reading began.
    package init(_ tokens: [APIToken], readAt: Duration) {
        (self.tokens, self.readAt) = (tokens, readAt)
    }

    /// Whether the list may still be used.
    package func isFresh(at elapsed: Duration) -> Bool { elapsed - readAt < Self.lifetime }

    /// The token of a digest; nil if there is none, or if it has expired. How long it takes says
    /// nothing about the digests.
    package func token(_ digest: [UInt8], at now: NumericDate) -> APIToken? {
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
