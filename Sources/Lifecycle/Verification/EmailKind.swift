internal import JOSE

/// Whose a user's address is, as far as it can be told.
package enum EmailKind: String, Sendable, CaseIterable {
    /// Apple forwards what is sent to it; it hides the user's own address.
    case relay
    /// An iCloud Mail address. It may be an address of iCloud+ Hide My Email, which cannot be
    /// recognised and is not a relay address of Sign in with Apple.
    case icloud
    /// Any other.
    case other

    /// Classifies an address.
    ///
    /// - Parameter isPrivate: what `is_private_email` says of it; nil where nothing says so, as in
    ///   the `user` field of a first sign-in. It counts before the domain: Apple has announced
    ///   relay addresses under another domain (June 2026), and may do so again.
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

    /// What is behind the last `@` that something is behind.
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
    /// Whether it is `other`, which has no capitals, when capitals of ASCII do not count.
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
    /// Whose ``email`` is; nil without one.
    package var emailKind: EmailKind? { email.map { EmailKind($0, isPrivate: isPrivateEmail) } }
}

extension CompactJWS {
    /// Whose the token's `email` is; nil without one. Apple leaves `is_private_email` out of tokens
    /// where the address is the user's own.
    package var emailKind: EmailKind? {
        guard let email = claims["email"]?.string, !email.isEmpty else { return nil }
        return EmailKind(email, isPrivate: claims["is_private_email"]?.flag ?? false)
    }
}
