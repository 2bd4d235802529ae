/// The parts of an http or https URL.
struct URLParts: Sendable {
    let scheme: String
    /// Host and port, as they are written.
    let authority: String
    /// The path with its query; `/` if there is none.
    let target: String

    init?(_ text: String) {
        guard let mark = text.firstRange(of: "://") else { return nil }
        scheme = text[..<mark.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = text[mark.upperBound...].prefix { $0 != "#" }
        authority = String(rest.prefix { $0 != "/" && $0 != "?" })
        guard !authority.isEmpty, !authority.contains("@") else { return nil }
        let after = rest.dropFirst(authority.count)
        target = after.isEmpty ? "/" : after.hasPrefix("?") ? "/" + after : String(after)
    }

    var origin: String { "\(scheme)://\(authority)" }
    /// The host without its port.
    var host: String {
        guard let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") else {
            return authority
        }
        return String(authority[..<colon])
    }
    /// The path without its query.
    var path: String { String(target.prefix { $0 != "?" }) }
    var query: String { String(target.dropFirst(path.count + 1)) }
}
