internal import SIWALifecycle

/// The URL of the application, to which events are delivered.
struct DeliveryTarget: Hashable, Sendable {
    /// The URL as written in the settings.
    let url: String

    /// Accepts an https URL, or an http URL of a loopback address, without user information.
    ///
    /// - Parameter allowsHTTP: accepts http for any host.
    /// - Throws: ``DeliveryTargetError``.
    init(_ url: String, allowsHTTP: Bool = false) throws(DeliveryTargetError) {
        let scheme = url.hasPrefix("http://") ? "http://" : "https://"
        guard url.hasPrefix(scheme) else { throw .scheme }
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !url.utf8.contains(0x23) else {
            throw .characters
        }
        let authority = url.dropFirst(scheme.count).prefix { !"/?".contains($0) }
        guard !authority.utf8.contains(UInt8(ascii: "@")) else { throw .userInformation }
        do throws(BaseURLError) {
            _ = try BaseURL(validating: scheme + authority)
        } catch .plainHTTP {
            guard allowsHTTP else { throw .plainHTTP }
        } catch {
            throw .host
        }
        self.url = url
    }
}

/// Why a URL cannot be used for deliveries.
enum DeliveryTargetError: Error, Hashable, Sendable, CustomStringConvertible {
    case scheme, characters, userInformation, host, plainHTTP

    /// The end of a sentence that begins with the URL.
    var description: String {
        switch self {
        case .scheme: "must begin with https://"
        case .characters: "contains a space, a fragment or a non-ASCII character"
        case .userInformation: "must not have a user name or password"
        case .host: "has no valid host or port"
        case .plainHTTP:
            "must be https: plain http is allowed for loopback only, unless \"allow_http\" is true"
        }
    }
}
