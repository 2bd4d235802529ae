internal import SIWAJOSE

/// The origin of the endpoints: Apple's, or an emulator's on loopback.
package struct BaseURL: Hashable, Sendable, CustomStringConvertible {
    /// The origin, without a slash at its end.
    package let description: String
    /// The URLs of most requests, composed once.
    private let tokenURL, revokeURL: String

    /// Apple's origin.
    package static let apple = Self(trusted: "https://appleid.apple.com")

    /// The host that Apple's discovery document named for some days in June 2025. Sign-ins that
    /// begin there work, but Apple's devices show a web page instead of their own sheet.
    package static let account = Self(trusted: "https://account.apple.com")

    private init(trusted origin: String) {
        description = origin
        tokenURL = origin + Endpoint.token.rawValue
        revokeURL = origin + Endpoint.revoke.rawValue
    }

    /// Checks an origin: https, or http to loopback only, without path, user or query.
    ///
    /// - Throws: ``BaseURLError``, which names the fault.
    package init(validating text: String) throws(BaseURLError) {
        let isPlain = text.hasPrefix("http://")
        guard isPlain || text.hasPrefix("https://") else { throw .scheme }
        let rest = text.dropFirst(isPlain ? 7 : 8)
        let authority = rest.hasSuffix("/") ? rest.dropLast() : rest
        guard !authority.contains(where: { "/?#@\\".contains($0) }) else { throw .notAnOrigin }
        let (host, port) = Self.split(authority)
        guard !host.isEmpty, Self.isHost(host), port.map(isPort) ?? true else {
            throw .host
        }
        guard !isPlain || SIWALifecycle.isLoopback(host) else { throw .plainHTTP }
        self.init(trusted: (isPlain ? "http://" : "https://") + String(authority))
    }

    /// Whether requests do not leave this machine.
    package var isLoopback: Bool {
        let authority = description.dropFirst(description.hasPrefix("http://") ? 7 : 8)
        return SIWALifecycle.isLoopback(Self.split(authority).host)
    }

    /// The URL of an endpoint.
    package func url(of endpoint: Endpoint) -> String {
        switch endpoint {
        case .token: tokenURL
        case .revoke: revokeURL
        case .userMigration, .keys, .authorize: description + endpoint.rawValue
        }
    }

    private static func split(_ authority: Substring) -> (host: Substring, port: Substring?) {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            let host = authority[...end]
            let rest = authority[authority.index(after: end)...]
            return (host, rest.isEmpty ? nil : rest.hasPrefix(":") ? rest.dropFirst() : "?")
        }
        guard let colon = authority.firstIndex(of: ":") else { return (authority, nil) }
        return (authority[..<colon], authority[authority.index(after: colon)...])
    }

    private static func isHost(_ host: Substring) -> Bool {
        guard host.hasPrefix("[") else {
            return host.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII
                    && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                        || scalar == "-" || scalar == "." || scalar == "_")
            }
        }
        let address = host.dropFirst().dropLast()
        return host.hasSuffix("]") && !address.isEmpty
            && address.unicodeScalars.allSatisfy {
                ":.abcdefABCDEF0123456789".unicodeScalars.contains($0)
            }
    }
}

/// Whether a host, without its port, is `localhost` or a loopback address.
package func isLoopback(_ host: some StringProtocol) -> Bool {
    if host.lowercased() == "localhost" || host == "[::1]" { return true }
    let octets = host.split(separator: ".", omittingEmptySubsequences: false)
    return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
}

/// Whether a text is the number of a port other than 0.
package func isPort(_ text: some StringProtocol) -> Bool {
    text.isDecimal && UInt16(text).map { $0 > 0 } ?? false
}

/// Why a text is not a base URL.
package enum BaseURLError: Error, Hashable, Sendable {
    /// Neither https nor http.
    case scheme
    /// It contains a path, a query, a fragment or a user.
    case notAnOrigin
    /// The host or the port is invalid.
    case host
    /// http to a host that is not loopback would reveal secrets to the network.
    case plainHTTP
}

extension BaseURLError: CustomStringConvertible {
    /// What is wrong, as the end of a sentence.
    package var description: String {
        switch self {
        case .scheme: "must begin with https://"
        case .notAnOrigin: "must be a scheme, a host and a port, and nothing after them"
        case .host: "has no usable host or port"
        case .plainHTTP:
            "must be https: plain http is for loopback only, or secrets would travel open"
        }
    }
}
