internal import SIWAJOSE

/// The kind of a user's address.
package enum EmailKind: String, Sendable, CaseIterable {
    /// A relay address, which hides the user's own address and forwards mail to it.
    case relay
    /// An iCloud Mail address. It may be an address of iCloud+ Hide My Email, which cannot be
    /// recognised and is not a relay address of Sign in with Apple.
    case icloud
    /// Any other address.
    case other

    /// Classifies an address.
    ///
    /// - Parameter isPrivate: the value of `is_private_email`; nil if unknown, as for the `user`
    ///   field of a first sign-in. It takes precedence over the domain, because Apple adds relay
    ///   domains (announced in June 2026).
    package init(_ address: String, isPrivate: Bool?) {
        let text = address.utf8.span
        let domain = text.extracting(Self.domain(of: text))
        switch isPrivate {
        case true?: self = .relay
        case nil where Self.relayDomains.contains(where: { domain.isIgnoringCase($0) }):
            self = .relay
        default:
            self =
                Self.iCloudDomains.contains(where: { domain.isIgnoringCase($0) }) ? .icloud : .other
        }
    }

    /// The text after the last `@` that is followed by any text.
    private static func domain(of address: Span<UInt8>) -> Range<Int> {
        let sign = UInt8(ascii: "@")
        var end = address.count
        while end > 0, address[end - 1] == sign { end -= 1 }
        var start = end
        while start > 0, address[start - 1] != sign { start -= 1 }
        return start..<end
    }

    private static let relayDomains = ["privaterelay.appleid.com", "private.icloud.com"]
    private static let iCloudDomains = ["icloud.com", "me.com", "mac.com"]
}

extension Span<UInt8> {
    /// Whether it equals `other`, a text in lower case, ignoring the case of ASCII letters.
    fileprivate func isIgnoringCase(_ other: String) -> Bool {
        let other = other.utf8.span
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] {
            guard (0x41...0x5A).contains(self[index]), self[index] | 0x20 == other[index] else {
                return false
            }
        }
        return true
    }
}

extension IdentityTokenClaims {
    /// The kind of ``email``; nil without an address.
    package var emailKind: EmailKind? { email.map { EmailKind($0, isPrivate: isPrivateEmail) } }
}

extension CompactJWS {
    /// The kind of the token's `email`; nil without an address. Apple omits `is_private_email` if
    /// the address is the user's own.
    package var emailKind: EmailKind? {
        guard claims.hasFilledString(.email) else { return nil }
        if claims.flag(.isPrivateEmail) == true { return .relay }
        return claims[.email]?.string.map { EmailKind($0, isPrivate: false) }
    }
}
