package import SIWAJOSE

extension JSON {
    /// The event in a notification's claims, in a uniform spelling; Apple uses several.
    ///
    /// `events` may be an object or the text of one. `type` of a deletion is always
    /// `account-deleted`; `sub` becomes `user_id`; `event_time` is in RFC 3339; `is_private_email`
    /// is a boolean. Unknown members follow. Nil if there is no event.
    package var normalizedEvent: JSON? {
        let events = self["events"]
        let text = events?.string.map { Array($0.utf8) } ?? events?.bytes
        guard let event = text.flatMap({ try? JSONText($0) }), event.isObject else { return nil }
        var members: [Member] = []
        event.forEachNormalizedMember { members.append(Member($0, $1)) }
        return .object(members)
    }

    /// The moment of an `event_time`: Apple documents seconds and sends milliseconds. A number
    /// from 10^11 is milliseconds, since 1973; below it is seconds, until the year 5138. Nil after
    /// the year 9999, which no text and no database can hold.
    var eventTime: NumericDate? {
        guard let number = integer, number >= 0 else { return nil }
        let moment = NumericDate(number < 100_000_000_000 ? number : number / 1000)
        return moment.isWritable ? moment : nil
    }
}

extension JSONText {
    /// Calls `body` with the name and the value of each member of the normalized event
    /// (``JSON/normalizedEvent``), when this is an event.
    ///
    /// - Parameter names: members of these names that Apple does not document are left out.
    package func forEachNormalizedMember(
        except names: [String] = [], _ body: (String, JSON) -> Void
    ) {
        func add(_ name: String, as newName: String? = nil, _ spell: (JSON) -> JSON?) {
            // An unexpected value is unchanged.
            if let value = self[name] { body(newName ?? name, spell(value) ?? value) }
        }
        add("type") { $0.string.map { .string(NotificationEvent.Kind(rawValue: $0).rawValue) } }
        add("sub", as: "user_id") { $0 }
        add("event_time") { $0.eventTime.map { .string($0.rfc3339) } }
        add("email") { $0 }
        add("is_private_email") { $0.flag.map(JSON.boolean) }
        forEachMember(except: Self.normalizedNames + names, body)
    }

    /// The members of an event that are spelled uniformly.
    private static let normalizedNames = [
        "type", "sub", "user_id", "event_time", "email", "is_private_email",
    ]
}
