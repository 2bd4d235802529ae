internal import SIWAJOSE
internal import SIWALifecycle

/// A vault's URL without the password, and of its parameters only those that say where it is: the
/// others can contain one.
package func withoutPassword(_ url: String) -> String {
    guard !url.hasPrefix("sqlite:") else { return url }
    let scheme = url.prefix { $0 != ":" }
    let rest = url.dropFirst(scheme.count + 1)
    let place = rest.dropFirst(rest.hasPrefix("//") ? 2 : 0).prefix { $0 != "?" }
    let parameters = placeParameters(of: url)
    let query = parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&")
    guard let at = place.lastIndex(of: "@") else {
        // The text after a question mark may be the rest of a password.
        return scheme + "://" + (url.mentions("@") ? "…" : place + query)
    }
    return scheme + "://" + place[..<at].prefix { $0 != ":" } + place[at...] + query
}

private func placeParameters(of url: String) -> [Substring] {
    let query = url.drop { $0 != "?" }.dropFirst()
    // The text after a question mark may be the rest of a password.
    guard !query.contains("@") else { return [] }
    return query.split(separator: "&").filter { parameter in
        ["host", "hostaddr", "port", "dbname"].contains { parameter.hasPrefix($0 + "=") }
    }
}

/// The vault in use, for people: the URL without the password, with the host, the port and the database
/// that libpq's variables give.
package func vaultPlace(_ url: String, _ variables: (String) -> String?) -> String {
    let place = withoutPassword(url)
    guard !url.hasPrefix("sqlite:"), place.last != "…" else { return place }
    let parameters = placeParameters(of: url)
    let address = place.prefix { $0 != "?" }.split(
        separator: "/", omittingEmptySubsequences: false
    ).dropFirst(2)
    let host = address.first?.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    let database = address.dropFirst().first ?? ""
    func addition(_ name: String, _ variable: String, _ isInURL: Bool) -> String? {
        guard !isInURL, !parameters.contains(where: { $0.hasPrefix(name + "=") }),
            let value = nonEmpty(variables(variable))
        else { return nil }
        return "\(name)=\(value)"
    }
    let additions = [
        addition("host", "PGHOST", !host.isEmpty),
        addition("hostaddr", "PGHOSTADDR", !host.isEmpty),
        addition(
            "port", "PGPORT",
            (host.split(separator: "]", omittingEmptySubsequences: false).last ?? "").contains(":")),
        addition("dbname", "PGDATABASE", !database.isEmpty),
    ].compactMap(\.self)
    return place + (additions.isEmpty ? "" : " (\(additions.joined(separator: ", ")))")
}
