/// The URI to which Apple redirects a browser after a sign-in: https, a domain name, no fragment
/// (Apple: "Configure Sign in with Apple for the web").
///
/// It must be registered for the Services ID character by character, so it is kept as it was
/// written.
package struct RedirectURI: Hashable, Sendable, CustomStringConvertible {
    /// The URI as written.
    package let description: String

    /// Checks that Apple would accept the URI.
    ///
    /// - Throws: ``RedirectURIError``, which names the rule.
    package init(validating text: String) throws(RedirectURIError) {
        guard text.utf8.allSatisfy(Self.isAllowed) else { throw .character }
        guard text.hasPrefix("https://") else { throw .scheme }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw .fragment }
        let authority = text.utf8.dropFirst(8).prefix { $0 != 0x2F && $0 != 0x3F }
        guard !authority.contains(UInt8(ascii: "@")) else { throw .user }
        try Self.check(String(Substring(authority)))
        description = text
    }

    private static func check(_ authority: String) throws(RedirectURIError) {
        // Browsers read 2130706433, 0x7f.1 and 127.1 as addresses: the last label decides (WHATWG
        // URL §3.5).
        let parts = authority.lowercased().split(separator: ":", omittingEmptySubsequences: false)
        var labels = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        if labels.count > 1, labels.last == "" { labels.removeLast() }
        let last = labels.last ?? ""
        guard !authority.hasPrefix("["), !isNumber(last) else { throw .address }
        guard last != "localhost" else { throw .localhost }
        let isName =
            labels.count > 1 && labels.allSatisfy(isLabel) && !parts[0].hasSuffix(".")
            && parts[0].utf8.count <= 253
        guard isName else { throw .domainName }
        guard parts.count == 1 || parts.count == 2 && isPort(parts[1]) else { throw .port }
    }

    /// RFC 3986 §2: whether a URI can contain the byte.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        isUnreserved(byte) || ":/?#[]@!$&'()*+,;=%".utf8.contains(byte)
    }

    private static func isNumber(_ label: Substring) -> Bool {
        let digits = label.hasPrefix("0x") ? label.dropFirst(2) : label[...]
        let isHexadecimal = label.hasPrefix("0x")
        return !label.isEmpty
            && digits.allSatisfy { isHexadecimal ? $0.isHexDigit : $0.isWholeNumber }
    }

    /// RFC 1123 §2.1.
    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy {
                isUnreserved($0) && ![0x2E, 0x5F, 0x7E].contains($0)
            }
    }
}

/// Why Apple would not accept a redirect URI.
package enum RedirectURIError: Error, Hashable, Sendable, CaseIterable {
    /// Not https.
    case scheme
    /// A space, or another character that is not allowed in a URI.
    case character
    /// Something after a `#`.
    case fragment
    /// A user name or a password before an `@`.
    case user
    /// An IP address in any notation.
    case address
    /// `localhost`.
    case localhost
    /// No domain name.
    case domainName
    /// An invalid port.
    case port
}

extension RedirectURIError: CustomStringConvertible {
    /// The rule that is broken, as the end of a sentence; never quotes the URI.
    package var description: String {
        switch self {
        case .scheme: "must begin with https://"
        case .character: "has a character that no URI has"
        case .fragment: "must not have a fragment (#)"
        case .user: "must not have a user name or a password (@)"
        case .address: "must have a domain name, not an IP address"
        case .localhost: "must have a domain name, not localhost"
        case .domainName: "must have a domain name, such as example.com"
        case .port: "has an invalid port"
        }
    }
}
