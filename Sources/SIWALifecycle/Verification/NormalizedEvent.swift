package import SIWAJOSE

extension JSON {
    /// The event in a notification's claims, in a uniform spelling; Apple uses several.
    ///
    /// `events` may be an object or the text of one. `type` of a deletion is always
    /// `account-deleted`; `sub` becomes `user_id`; `event_time` is in RFC 3339; `is_private_email`
    /// is a boolean. Unknown members follow. Nil if there is no event.
    package var normalizedEvent: JSON? {
        (try? NotificationEvent.object(self["events"], hasSubject: true))
            .map(\.normalizedEventObject)
    }

    /// The normalized event; this must be an object.
    fileprivate var normalizedEventObject: JSON {
        var event: [Member] = []
        event.reserveCapacity(8)
        func add(_ name: String, as newName: String? = nil, _ spell: (JSON) -> JSON?) {
            // An unexpected value is unchanged.
            if let value = self[name] {
                event.append(Member(newName ?? name, spell(value) ?? value))
            }
        }
        add("type") { $0.string.map { .string(NotificationEvent.Kind(rawValue: $0).rawValue) } }
        add("sub", as: "user_id") { $0 }
        add("event_time") { $0.eventTime.map { .string($0.rfc3339) } }
        add("email") { $0 }
        add("is_private_email") { $0.flag.map(JSON.boolean) }
        event += members?.others(than: Self.normalizedNames) ?? []
        return .object(event)
    }

    /// The members of an event that are spelled uniformly.
    private static let normalizedNames = [
        "type", "sub", "user_id", "event_time", "email", "is_private_email",
    ]

    /// The moment of an `event_time`: Apple documents seconds and sends milliseconds. A number
    /// from 10^11 is milliseconds, since 1973; below it is seconds, until the year 5138. Nil after
    /// the year 9999, which no text and no database can hold.
    var eventTime: NumericDate? {
        guard let number = integer, number >= 0 else { return nil }
        let moment = NumericDate(number < 100_000_000_000 ? number : number / 1000)
        return moment.isWritable ? moment : nil
    }
}

extension NotificationEvent {
    /// ``JSON/normalizedEvent`` of the claims.
    package var normalized: JSON { json.normalizedEventObject }
}
