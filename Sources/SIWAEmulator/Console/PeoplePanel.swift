internal import SIWAJOSE
internal import SIWALifecycle

/// The users, what each client knows of them, and the events that can be triggered for them.
enum PeoplePanel {
    /// The most users shown; the search finds the others.
    static let limit = 20

    static func html(_ state: ConsoleState, _ view: ConsoleView) -> HTML {
        let found = state.service.users.users.lazy
            .filter { view.userSearch.isEmpty || $0.matches(view.userSearch) }
        let users = Array(found.prefix(limit))
        let live = state.service.ledger.liveSessions
        let more = state.service.users.users.count - users.count
        let rest: HTML =
            more > 0 ? #"<li class="empty">\#(String(more)) more: search for a name</li>"# : ""
        return """
            <ul class="people">\(users.map { person($0, live, state) })\(rest)</ul>
            """
    }

    private static func person(
        _ user: EmulatedUser, _ live: [Consents.Parties: Int], _ state: ConsoleState
    ) -> HTML {
        let clients = state.configuration.clients
        let consents = clients.prefix(20).compactMap { client -> HTML? in
            consent(
                user, client,
                live[Consents.Parties(userID: user.userID, clientID: client.clientID)] ?? 0, state)
        }
        let name = user.displayName ?? user.name
        return """
            <li>
            <div class="person"><span class="face" aria-hidden="true">\(initial(name))</span>
            <div><b>\(name)</b> <span class="caption">\(user.name)</span>
            <p>\(user.email ?? "no address")\(relay(user, state))</p>
            <p class="mono caption">\(user.userID.rawValue)</p></div></div>
            \(consents.isEmpty ? #"<p class="empty">has not signed in yet</p>"# as HTML
                : "<ul class=\"lines\">\(consents)</ul>")
            <div class="buttons">\(actions(user, state))</div>
            </li>
            """
    }

    private static func initial(_ name: String) -> String {
        name.first.map { String($0).uppercased() } ?? "?"
    }

    private static func consent(
        _ user: EmulatedUser, _ client: EmulatedClient, _ live: Int, _ state: ConsoleState
    ) -> HTML? {
        let consents = state.service.ledger.consents
        let isWithdrawn = consents.isWithdrawn(user.userID, client.clientID)
        guard let sharing = consents[user.userID, client.clientID] else {
            return isWithdrawn
                ? "<li><span>\(client.clientID.rawValue) <span class=\"badge\">revoked</span></span></li>"
                : nil
        }
        let revoke = ConsoleButton(
            label: "Revoke consent", control: .notifications,
            body: event("consent-revoked", user, client), style: "quiet",
            object: "of \(user.name) to \(client.clientID)")
        return """
            <li><span>\(client.clientID.rawValue) <span class="badge ok">consented</span> \
            <span class="caption">\(sharing.words) · \
            \(live == 1 ? "1 live session" : "\(live) live sessions")</span></span>\
            \(revoke.html(state))</li>
            """
    }

    private static func relay(_ user: EmulatedUser, _ state: ConsoleState) -> HTML {
        guard let address = state.service.knownRelay(of: user) else { return "" }
        let shown: HTML = user.isPrivateEmail ? "" : " · relay \(address)"
        return state.service.ledger.silentRelays.contains(user.userID)
            ? #"\#(shown) <span class="badge warn">mail to the relay address is off</span>"# : shown
    }

    private static func actions(_ user: EmulatedUser, _ state: ConsoleState) -> [HTML] {
        let isSilent = state.service.ledger.silentRelays.contains(user.userID)
        let mail = state.service.knownRelay(of: user).map { address in
            ConsoleButton(
                label: isSilent ? "Forward relay mail" : "Stop relay mail",
                control: .notifications,
                body: event(isSilent ? "email-enabled" : "email-disabled", user),
                object: "to \(address) of \(user.name)")
        }
        let delete = ConsoleButton(
            label: "Delete account", control: .notifications, body: event("account-delete", user),
            style: "danger", object: "of \(user.name)")
        return [mail, delete].compactMap { $0?.html(state) }
    }

    private static func event(
        _ type: String, _ user: EmulatedUser, _ client: EmulatedClient? = nil
    ) -> JSON {
        var members = [
            JSON.Member("type", .string(type)), JSON.Member("user", .string(user.name)),
            JSON.Member("wait", false),
        ]
        if let client { members.append(JSON.Member("client_id", client.clientID.json)) }
        return .object(members)
    }
}

extension EmulatedUser {
    /// Whether a name, the address or the identifier begins with a text, ignoring case.
    fileprivate func matches(_ text: String) -> Bool {
        let wanted = text.lowercased()
        return [name, firstName, lastName, email, userID.rawValue].contains {
            $0?.lowercased().hasPrefix(wanted) ?? false
        }
    }
}

extension EmailSharing {
    fileprivate var words: String {
        switch self {
        case .shared: "knows the address"
        case .hidden: "knows a relay address"
        case .withheld: "did not ask for an address"
        }
    }
}
