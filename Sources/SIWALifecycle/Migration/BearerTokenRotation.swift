internal import SIWACrypto
internal import SIWAJOSE

/// The bearer tokens of a team, one after the other: decides when a new one is needed, and when a
/// new one would not help.
///
/// A pure value. A bearer token expires after an hour by Apple's clock, and Apple may revoke it
/// earlier. An item that is refused because of its bearer token is sent again with the next one.
/// If several new tokens in a row are refused and none of them was ever accepted, the tokens are
/// not the cause.
struct BearerTokenRotation: Sendable {
    struct BearerToken: Sendable {
        let number: Int
        let token: SecretText
        /// When it is replaced: a minute before it expires, or after half of a short lifetime.
        let renewAt: NumericDate
    }

    /// The current token; nil before the first one and after a refusal.
    private(set) var current: BearerToken?
    private var count = 0
    private var isUsed = false
    private var isProven = false
    private var refusedInARow = 0

    /// Whether a new token is needed. Each token is used at least once, even with a very short
    /// lifetime: otherwise the run would fetch tokens forever.
    func needsRenewal(at now: NumericDate) -> Bool {
        guard let current else { return true }
        return isUsed && now >= current.renewAt
    }

    /// Takes a new token; false if the response has no token, or one that a header field cannot
    /// contain.
    mutating func take(_ answer: TokenResponse, at now: NumericDate) -> Bool {
        let token = answer.accessToken.text
        let isVisible = token.bytes.withSpan { bytes in
            !bytes.isEmpty && bytes.indices.allSatisfy { (0x21...0x7E).contains(bytes[$0]) }
        }
        guard isVisible else { return false }
        let lifetime = Duration.seconds(min(max(answer.expiresIn ?? Self.hour, 0), Self.hour))
        count += 1
        current = BearerToken(
            number: count, token: token, renewAt: now + max(lifetime / 2, lifetime - .seconds(60)))
        (isUsed, isProven) = (false, false)
        return true
    }

    /// The token for a request that is sent now.
    mutating func use() -> BearerToken? {
        isUsed = true
        return current
    }

    /// Notes that Apple accepted the token, even if it refused the user.
    mutating func accept(_ bearer: BearerToken?) {
        refusedInARow = 0
        if bearer?.number == current?.number { isProven = true }
    }

    /// Notes that Apple refused the token.
    ///
    /// - Returns: false if a new token would be refused as well.
    mutating func refuse(_ bearer: BearerToken?) -> Bool {
        // Only the first refusal of the same token counts.
        guard let current, bearer?.number == current.number else { return true }
        if !isProven { refusedInARow += 1 }
        self.current = nil
        return refusedInARow < Self.mostInARow
    }

    private static let hour = 3600
    /// One more than a single item can cause; see ``MigrationJob``.
    private static let mostInARow = 4
}
