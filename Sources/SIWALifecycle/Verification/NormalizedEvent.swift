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
        event.forEachNormalizedMember { name, place, spelling in
            members.append(Member(name, spelling ?? event.value(at: place)))
        }
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

extension JSONLine {
    /// Adds the members of ``JSON/normalizedEvent``.
    ///
    /// - Parameter names: members of these names that Apple does not document are left out.
    package mutating func add(membersOf event: NotificationEvent, except names: [String]) {
        event.text.forEachNormalizedMember(except: names) { name, place, spelling in
            if let spelling {
                add(.init(name, spelling))
            } else {
                add(name, event.text, at: place)
            }
        }
    }
}

extension JSONText {
    /// Calls `body` for each member of the normalized event, when this is an event: with its name, the
    /// place of its value, and the value in the uniform spelling; nil if it stays as it is.
    fileprivate func forEachNormalizedMember(
        except names: [String] = [], _ body: (String, Int, JSON?) -> Void
    ) {
        func add(
            _ name: String, as newName: String? = nil, _ spell: ((JSON) -> JSON?)? = nil
        ) {
            guard let place = place(of: name) else { return }
            body(newName ?? name, place, spell.flatMap { $0(value(at: place)) })
        }
        add("type") { $0.string.map { .string(NotificationEvent.Kind(rawValue: $0).rawValue) } }
        add("sub", as: "user_id")
        add("event_time") { $0.eventTime.map { .string($0.rfc3339) } }
        add("email")
        add("is_private_email") { $0.flag.map(JSON.boolean) }
        forEachMember(except: Self.normalizedNames) { name, place in
            if !names.contains(name) { body(name, place, nil) }
        }
    }

    /// The members of an event that are spelled uniformly.
    private static let normalizedNames = [
        "type", "sub", "user_id", "event_time", "email", "is_private_email",
    ]
}
