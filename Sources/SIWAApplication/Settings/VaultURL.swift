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
