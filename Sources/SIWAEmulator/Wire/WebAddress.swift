internal import SIWALifecycle

/// An absolute http or https URL, split into the parts that the emulator needs.
package struct WebAddress: Sendable {
    enum Scheme: String, CaseIterable, Sendable {
        case https
        case http
    }

    let scheme: Scheme
    /// Without the port; an IPv6 address has its brackets.
    package let host: String
    /// Host and port, as they are written.
    package let authority: String
    /// The path with its query, without a fragment; `/` if there is none.
    package let target: String
    let hasFragment: Bool

    /// Nil if the text is not such a URL, or has a user name or a backslash before its path, which
    /// would disguise the host.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let scheme = Scheme.allCases.first(where: { text.hasPrefix("\($0.rawValue)://") })
        else { return nil }
        let rest = text.dropFirst(scheme.rawValue.count + 3)
        let authority = rest.prefix { !"/?#".contains($0) }
        guard let host = Self.host(of: authority) else { return nil }
        self.scheme = scheme
        self.host = String(host)
        self.authority = String(authority)
        let after = rest.dropFirst(authority.count).prefix { $0 != "#" }
        target = after.hasPrefix("/") ? String(after) : "/" + after
        hasFragment = rest.contains("#")
    }

    /// Scheme, host and port of a URL (RFC 6454 §6.2).
    static func origin(of text: String) -> String? { WebAddress(text)?.origin }

    /// Scheme, host and port (RFC 6454 §6.2).
    package var origin: String { "\(scheme.rawValue)://\(authority)" }

    /// The path without its query.
    package var path: String { String(target.prefix { $0 != "?" }) }

    package var query: String { String(target.dropFirst(path.count + 1)) }

    /// Whether the host is a domain name, not an IP address or this machine: at least two labels,
    /// the last of which is not a number (WHATWG URL §3.5 reads `1.2.3.4` and `0x7f.1` as
    /// addresses).
    var hasDomainName: Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard !host.hasPrefix("["), labels.count > 1, !labels.contains(where: \.isEmpty),
            let last = labels.last
        else { return false }
        return last.first?.isLetter == true && last.lowercased() != "localhost"
    }

    /// Whether the host is this machine.
    var isLoopback: Bool { SIWALifecycle.isLoopback(host) }

    /// The host of `host:port`; nil when the host is missing or the port is not a number.
    static func host(of authority: some StringProtocol) -> String? {
        let isBracketed = authority.hasPrefix("[")
        let end =
            isBracketed
            ? authority.firstIndex(of: "]").map(authority.index(after:))
            : authority.firstIndex(of: ":") ?? authority.endIndex
        guard let end else { return nil }
        let (host, rest) = (authority[..<end], authority[end...])
        let hasPort = rest.hasPrefix(":") && isPort(rest.dropFirst())
        let isHost =
            isBracketed
            || host.utf8.allSatisfy { byte in
                let character = Character(Unicode.Scalar(byte))
                return character.isASCII
                    && (character.isLetter || character.isNumber || "-._".contains(character))
            }
        return (rest.isEmpty || hasPort) && isHost && !host.isEmpty ? String(host) : nil
    }
}
