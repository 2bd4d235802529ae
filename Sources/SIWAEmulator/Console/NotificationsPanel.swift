internal import SIWAJOSE
internal import SIWALifecycle

/// The notifications that were sent, and their receivers.
enum NotificationsPanel {
    private static let limit = 12

    static func html(_ state: ConsoleState) -> HTML {
        let numbers = state.notifications.numbers.reversed().prefix(limit)
        guard !numbers.isEmpty else {
            return """
                <p class="empty">No notification yet: revoke a consent, stop relay mail or delete an \
                account.</p>
                """
        }
        let items = numbers.compactMap { number in
            state.notifications[number].map { item($0, number, state) }
        }
        return "<ul class=\"notifications\">\(items)</ul>"
    }

    private static func item(
        _ record: NotificationRecord, _ number: Int, _ state: ConsoleState
    ) -> HTML {
        """
        <li>
        <p>\(record.at.element) <b>\(record.type)</b> <span class="caption">\(record.user), for \
        \(record.clientID.rawValue)</span></p>
        <p class="caption">\(record.url.map { "to \($0)" } ?? "not posted: there is no receiver")\
         · RS256, key <span class="mono">\(record.keyID)</span> · jti \
        <span class="mono">\(record.notification.id)</span></p>
        <p class="attempts">\(attempts(record))\(pending(record))</p>
        <div class="buttons">\(buttons(number, state))</div>
        </li>
        """
    }

    /// A badge for each outcome, with the number of attempts that had it.
    private static func attempts(_ record: NotificationRecord) -> [HTML] {
        NotificationRecord.counts(record.attempts.map(\.outcome)).map { outcome, count in
            let times: HTML = count > 1 ? " × \(String(count))" : ""
            let style = outcome.status == 200 ? "ok" : "error"
            var title: HTML = ""
            if case .failure(let error) = outcome { title = #" title="\#(error.message)""# }
            return #"<span class="badge \#(style)"\#(title)>\#(outcome.summary)\#(times)</span>"#
        }
    }

    private static func pending(_ record: NotificationRecord) -> HTML {
        record.pending > 0 ? #" <span class="badge warn">under way</span>"# : ""
    }

    private static func buttons(_ number: Int, _ state: ConsoleState) -> [HTML] {
        let kinds: [(String, [JSON.Member])] = [
            ("Send again", []), ("Send twice", [JSON.Member("copies", 2)]),
            ("Send in 10 s", [JSON.Member("delay", "10s")]),
        ]
        return kinds.map { label, members in
            ConsoleButton(
                label: label, control: .notificationsResend,
                body: .object(
                    [JSON.Member("number", .integer(number)), JSON.Member("wait", false)] + members),
                style: "quiet", object: "(notification \(number))"
            ).html(state)
        }
    }

    static func form(_ state: ConsoleState) -> HTML {
        """
        <form method="post" action="\(Control.receiver.path)" class="row-form">
        <input type="hidden" name="token" value="\(state.token)">
        <label>Your receiver on this machine
        <input name="url" type="url" value="\(state.receiver ?? "")" \
        placeholder="http://127.0.0.1:8000/apple"></label>
        <button>Save</button>
        </form>
        """
    }
}
