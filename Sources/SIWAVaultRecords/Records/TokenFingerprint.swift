internal import SIWAJOSE
package import SIWALifecycle

/// Identifies a stored token without revealing it: the first 12 hexadecimal digits of its SHA-256.
package struct TokenFingerprint: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Twelve lowercase hexadecimal digits.
    package let rawValue: String

    /// Accepts twelve lowercase hexadecimal digits; nil for any other text.
    package init?(_ text: String) {
        guard text.utf8.count == 12, text.utf8.allSatisfy({ $0.isLowerCaseHexadecimal }) else {
            return nil
        }
        rawValue = text
    }

    /// Computes the fingerprint of a token.
    ///
    /// - Throws: ``StoreError`` of kind `key` if OpenSSL provides no SHA-256.
    package init(of token: RefreshToken) throws(StoreError) {
        guard let fingerprint = Self(token.text.fingerprint) else {
            throw StoreError(.key, "OpenSSL provides no SHA-256")
        }
        self = fingerprint
    }

    /// The order of their digits.
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// ``rawValue``.
    package var description: String { rawValue }
}
