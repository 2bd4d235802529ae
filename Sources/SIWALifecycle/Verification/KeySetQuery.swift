package import SIWAJOSE

/// Which key set is needed, and where it may come from.
package struct KeySetQuery: Sendable {
    /// Where a key set may come from.
    package enum Source: Sendable {
        /// The cache or Apple.
        case any
        /// The cache only.
        case cache
        /// Apple only.
        case apple
    }

    /// The `kid` that the set should contain; nil for any set.
    package let keyID: String?
    /// When the command started the search.
    package let askedAt: NumericDate
    /// Where the set may come from.
    package let source: Source

    package init(holding keyID: String?, askedAt: NumericDate, from source: Source = .any) {
        self.keyID = keyID
        self.askedAt = askedAt
        self.source = source
    }
}
