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
        let domain = Self.domain(of: address)
        switch isPrivate {
        case true?: self = .relay
        case nil where Self.relayDomains.contains(where: domain.isIgnoringCase): self = .relay
        default:
            self = Self.iCloudDomains.contains(where: domain.isIgnoringCase) ? .icloud : .other
        }
    }

    /// What is behind the last `@` that something is behind.
    private static func domain(of address: String) -> Substring.UTF8View {
        var rest = address.utf8[...]
        while rest.last == UInt8(ascii: "@") { rest.removeLast() }
        guard let sign = rest.lastIndex(of: UInt8(ascii: "@")) else { return rest }
        return rest[rest.index(after: sign)...]
    }

    private static let relayDomains = ["privaterelay.appleid.com", "private.icloud.com"]
    private static let iCloudDomains = ["icloud.com", "me.com", "mac.com"]
}

extension Substring.UTF8View {
    /// Whether it is `other`, which has no capitals, when capitals of ASCII do not count.
    fileprivate func isIgnoringCase(_ other: String) -> Bool {
        count == other.utf8.count
            && zip(self, other.utf8).allSatisfy {
                $0 == $1 || (0x41...0x5A).contains($0) && $0 | 0x20 == $1
            }
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
