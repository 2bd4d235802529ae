internal import SIWAJOSE

/// The body of `POST /emulator/keys/rotate`.
struct Rotation {
    /// The number of published keys afterwards; nil leaves it unchanged.
    let count: Int?
    /// The key that is withdrawn first; nil means the oldest.
    let withdrawn: String?
    /// The published key that signs from now on; nil makes a new one.
    let signing: String?

    init(json: JSON) throws(ShapeError) {
        let reader = try JSONObjectReader(json, knowing: ["keys", "withdraw", "signing"])
        count = try reader.optional("keys")
        withdrawn = try reader.optional("withdraw")
        signing = try reader.optional("signing")
        guard (1...10).contains(count ?? 1) else {
            throw ShapeError("", "'keys' must be 1 to 10")
        }
        guard signing == nil || (count == nil && withdrawn == nil) else {
            throw ShapeError("", "'signing' excludes 'keys' and 'withdraw'")
        }
    }
}

extension EmulatorKeys {
    /// The number of new keys that a rotation requires: at least the new signing key, unless a
    /// published one is named.
    func shortfall(for rotation: Rotation) throws(ShapeError) -> Int {
        let published = entries.map(\.keyID)
        if let named = rotation.signing ?? rotation.withdrawn, !published.contains(named) {
            let known = published.joined(separator: ", ")
            throw ShapeError("", "'\(named.clipped)' is not published; published are \(known)")
        }
        guard rotation.signing == nil else { return 0 }
        let remaining = published.count - (rotation.withdrawn == nil ? 0 : 1)
        return max(1, (rotation.count ?? published.count) - remaining)
    }

    /// Publishes `fresh`, signs with the last of them, and withdraws the surplus keys; returns the
    /// new set.
    mutating func rotate(_ rotation: Rotation, adding fresh: [Entry]) -> JSON {
        let before = entries
        entries = entries.filter { $0.keyID != rotation.withdrawn } + fresh
        entries = entries.suffix(rotation.count ?? before.count)
        signing = entries.first { $0.keyID == rotation.signing } ?? entries.last ?? signing
        let published = entries.map(\.keyID)
        return [
            "signing": .string(signing.keyID), "published": published.json,
            "withdrawn": before.map(\.keyID).filter { !published.contains($0) }.json,
        ]
    }
}
