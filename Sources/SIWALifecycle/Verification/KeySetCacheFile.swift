internal import SIWAJOSE

// The file of the cache: one JSON object, read strictly. Any other content, including that of
// another version, is treated as damaged, because the keys can be fetched again.
extension KeySetCache {
    /// Reads what ``bytes(for:)`` wrote for the same origin.
    ///
    /// Nil for any other content: keys of one origin must never verify tokens of another.
    package init?(_ bytes: [UInt8], for origin: BaseURL) {
        guard let file = try? JSON(bytes), let members = file.members,
            members.allSatisfy({ Name.all.contains($0.name) }),
            file[Name.origin] == .string(origin.description),
            let seen = file[Name.firstSeen]?.members
        else { return nil }
        self.init()
        for member in seen {
            guard let moment = member.value.integer else { return nil }
            firstSeen[member.name] = NumericDate(moment)
        }
        if let pause = file[Name.pausedUntil] {
            guard let moment = pause.integer else { return nil }
            pausedUntil = NumericDate(moment)
        }
        switch (file[Name.keySet], file[Name.fetchedAt]) {
        case (nil, nil): break
        case (let document?, .integer(let moment)?):
            guard let keySet = KeySet(document) else { return nil }
            held = Held(keySet: keySet, fetchedAt: NumericDate(moment))
        default: return nil
        }
    }

    /// The file for `origin`, in UTF-8.
    package func bytes(for origin: BaseURL) -> [UInt8] {
        let seen = firstSeen.sorted { $0.key < $1.key }.map {
            JSON.Member($0.key, .integer($0.value.seconds))
        }
        var members: [JSON.Member] = [
            .init(Name.origin, .string(origin.description)), .init(Name.firstSeen, .object(seen)),
        ]
        if let pausedUntil {
            members.append(.init(Name.pausedUntil, .integer(pausedUntil.seconds)))
        }
        if let held {
            members.append(.init(Name.fetchedAt, .integer(held.fetchedAt.seconds)))
            members.append(.init(Name.keySet, held.keySet.document))
        }
        return JSON.object(members).bytes + [0x0A]
    }

    private enum Name {
        static let origin = "base_url"
        static let firstSeen = "first_seen"
        static let pausedUntil = "paused_until"
        static let fetchedAt = "fetched_at"
        static let keySet = "key_set"
        static let all = [origin, firstSeen, pausedUntil, fetchedAt, keySet]
    }
}
