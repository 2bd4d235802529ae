internal import SIWACrypto

/// The team's own access tokens, one after the other: when a new one is needed, and when a new
/// one would not help.
///
/// A pure value. A bearer token expires after an hour by Apple's clock, and Apple may take one
/// back before. Who was refused because of it asks again with the next one; only when several
/// fresh ones in a row are refused, and nobody got through with any of them, is it not the
/// tokens that are at fault.
struct Bearers: Sendable {
    /// One of them.
    struct Bearer: Sendable {
        let number: Int
        let token: SecretText
        /// When it is replaced: a minute early, or half its life when that is short.
        let renewAt: NumericDate
    }

    /// The one in use; nil before the first and after a refusal.
    private(set) var current: Bearer?
    private var count = 0
    private var isUsed = false
    private var isProven = false
    private var refusedInARow = 0

    /// Whether a new one is needed. One that is fresh is used at least once, however short it
    /// lives: else nothing would ever go on.
    func needsRenewal(at now: NumericDate) -> Bool {
        guard let current else { return true }
        return isUsed && now >= current.renewAt
    }

    /// Takes a new one; false when the answer holds none that can stand in a header.
    mutating func take(_ answer: TokenResponse, at now: NumericDate) -> Bool {
        let token = answer.accessToken.text
        let isVisible = token.bytes.withSpan { bytes in
            !bytes.isEmpty && bytes.indices.allSatisfy { (0x21...0x7E).contains(bytes[$0]) }
        }
        guard isVisible else { return false }
        let lifetime = Duration.seconds(min(max(answer.expiresIn ?? Self.hour, 0), Self.hour))
        count += 1
        current = Bearer(
            number: count, token: token, renewAt: now + max(lifetime / 2, lifetime - .seconds(60)))
        (isUsed, isProven) = (false, false)
        return true
    }

    /// The one for a request that goes out now.
    mutating func use() -> Bearer? {
        isUsed = true
        return current
    }

    /// Apple looked past it, whatever it said then.
    mutating func accept(_ bearer: Bearer?) {
        refusedInARow = 0
        if bearer?.number == current?.number { isProven = true }
    }

    /// Apple refused it.
    ///
    /// - Returns: false when no other one would fare better.
    mutating func refuse(_ bearer: Bearer?) -> Bool {
        // Of many requests with the same token, the first refusal tells all there is to tell.
        guard let current, bearer?.number == current.number else { return true }
        if !isProven { refusedInARow += 1 }
        self.current = nil
        return refusedInARow < Self.mostInARow
    }

    private static let hour = 3600
    /// One more than a single user's doing can come to; see ``MigrationJob``.
    private static let mostInARow = 4
}
