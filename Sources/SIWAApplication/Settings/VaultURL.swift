internal import SIWAJOSE
internal import SIWALifecycle

/// A vault's URL without the password and without parameters, which can contain one.
package func withoutPassword(_ url: String) -> String {
    guard !url.hasPrefix("sqlite:") else { return url }
    let scheme = url.prefix { $0 != ":" }
    let rest = url.dropFirst(scheme.count + 1)
    let place = rest.dropFirst(rest.hasPrefix("//") ? 2 : 0).prefix { $0 != "?" }
    guard let at = place.lastIndex(of: "@") else {
        // The text after a question mark may be the rest of a password.
        return scheme + "://" + (url.mentions("@") ? "…" : place)
    }
    return scheme + "://" + place[..<at].prefix { $0 != ":" } + place[at...]
}

/// The vault in use, for people: the URL without the password, with the host and the database that
/// its parameters or libpq's variables give.
package func vaultPlace(_ url: String, _ variables: (String) -> String?) -> String {
    let place = withoutPassword(url)
    guard !url.hasPrefix("sqlite:"), place.last != "…" else { return place }
    let query = url.drop { $0 != "?" }.dropFirst()
    // The text after a question mark may be the rest of a password.
    let parameters = query.contains { $0 == "@" } ? [] : query.split(separator: "&")
    let address = place.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2)
    let host = address.first?.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    let database = address.dropFirst().first ?? ""
    func addition(_ name: String, _ variable: String, _ inURL: Substring) -> String? {
        if let given = parameters.first(where: { $0.hasPrefix(name + "=") }) {
            return String(given)
        }
        guard inURL.isEmpty, let value = nonEmpty(variables(variable)) else { return nil }
        return "\(name)=\(value)"
    }
    let additions = [
        addition("host", "PGHOST", host), addition("hostaddr", "PGHOSTADDR", host),
        addition("dbname", "PGDATABASE", database),
    ].compactMap(\.self)
    return place + (additions.isEmpty ? "" : " (\(additions.joined(separator: ", ")))")
}
