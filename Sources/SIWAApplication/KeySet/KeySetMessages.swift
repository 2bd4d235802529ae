package import SIWAJOSE
package import SIWALifecycle

// Messages about a key set.
extension Console {
    /// Notes that Apple's keys have changed.
    package func note(_ change: KeySetCache.Change) {
        guard !change.isEmpty else { return }
        let parts = [("new", change.added), ("withdrawn", change.withdrawn)].filter { !$1.isEmpty }
            .map { "\($0) \(firstFive($1))" }
        note(
            "Apple's keys have changed since they were last seen: \(parts.joined(separator: "; "))")
    }

    /// Notes that a set has unusable keys.
    package func note(_ ignored: [IgnoredKey]) {
        guard !ignored.isEmpty else { return }
        note("siwa ignores keys of the key set: \(ignored.listed)")
    }

    /// Explains why an old or incomplete key set is used.
    package func warn(_ held: KeySetCache.Held, _ reason: String, at now: NumericDate) {
        let age = now - held.fetchedAt
        let ago =
            age < .zero ? "in the future" : "\(DurationArgument(age).argumentDescription) ago"
        warn("using Apple's keys of \(held.fetchedAt.rfc3339), \(ago): \(reason)")
    }

    /// Warns that the cache cannot be used.
    package func warn(_ fault: KeySetFileFault) {
        warn("the cache of Apple's key set is not used: \(fault.message)")
    }
}

extension [IgnoredKey] {
    /// `kid one (it is not for RS256), a key (it has no kid)`.
    package var listed: String {
        firstFive(map { "\($0.keyID.map { "kid \($0)" } ?? "a key") (\($0.reason.rawValue))" })
    }
}

/// Limited, because a server could send thousands.
private func firstFive(_ items: [String]) -> String {
    let more = items.count > 5 ? " and \(items.count - 5) more" : ""
    return items.prefix(5).map { printable($0) }.joined(separator: ", ") + more
}
