internal import SIWAJOSE
internal import SIWALifecycle

/// The console: one page that shows everything and also works without scripts.
struct ConsolePage {
    let state: ConsoleState
    let view: ConsoleView

    /// How many requests the page begins with; the script keeps as many.
    static let rows = 100

    var page: Page {
        HTMLPage(
            title: "siwa-emulator: console", policy: "connect-src 'self'; form-action 'self'; ",
            // Not no-referrer: a browser would then send forms with Origin: null.
            fields: [HTTPField("Referrer-Policy", "same-origin")]
        ) { (head: head($0), body: body) }.page()
    }

    /// The answer to a form sent without a script: a redirect to the section that shows the effect,
    /// or the code of a sign-in.
    static func done(_ control: Control, _ answer: JSON) -> Page {
        guard control == .codes else { return .seeOther("\(ConsoleRoute.root)#\(control.section)") }
        let members = (answer.members ?? []).map { member -> HTML in
            "<dt>\(member.name)</dt><dd class=\"mono\">\(member.value.string ?? "")</dd>"
        }
        return Document(
            title: "Signed in",
            content: """
                <dl>\(members)</dl>
                <p><a class="button" href="\(ConsoleRoute.root)">Back to the console</a></p>
                """
        ).page()
    }

    private func head(_ nonce: String) -> HTML {
        """
        <link rel="stylesheet" href="/emulator/console.css" nonce="\(nonce)">
        <script src="/emulator/console.js" nonce="\(nonce)" defer></script>
        \(reload)
        """
    }

    private var body: HTML {
        """
        <body data-instance="\(state.instance)" data-last="\(String(state.log.count))" \
        data-search="\(view.userSearch)" data-find="\(view.requestSearch)">
        \(header)
        <main>
        \(requests)
        <div class="rail">
        \(section("clock", "Clock", isOpen: true, panel(.clock)))
        \(section("faults", "Faults", isOpen: true, [FaultsPanel.form(state), faultActions, panel(.faults)]))
        \(section("people", "Users", isOpen: true, [search, panel(.people), SignInForm.html(state, view), AddUserForm.html(state)]))
        </div>
        <div class="rail">
        \(section("sessions", "Tokens", panel(.sessions)))
        \(section("notifications", "Notifications", [NotificationsPanel.form(state), panel(.notifications)]))
        \(section("clients", "Clients and keys", [panel(.clients), ClientsPanel.form(state)]))
        \(section("switches", "Switches", [panel(.switches), SwitchesPanel.form(state)]))
        \(section("history", "Changes", panel(.history)))
        </div>
        </main>
        <div id="toasts" role="status" aria-live="polite"></div>
        </body>
        """
    }

    private func panel(_ panel: ConsolePanel) -> HTML { panel.element(state, view) }

    /// A section that can be folded. The script opens all where there is room for them.
    private func section(
        _ id: String, _ title: String, isOpen: Bool = false, _ content: [HTML]
    ) -> HTML {
        let open: HTML = isOpen ? " open" : ""
        return """
            <section aria-labelledby="\(id)-title"><details class="fold"\(open)>
            <summary><h2 id="\(id)-title">\(title)</h2></summary>
            <div id="\(id)" class="folded">
            \(content)
            </div></details></section>
            """
    }

    private func section(
        _ id: String, _ title: String, isOpen: Bool = false, _ content: HTML
    ) -> HTML {
        section(id, title, isOpen: isOpen, [content])
    }

    /// Without scripts, the page reloads itself.
    private var reload: HTML {
        view.reloads
            ? #"<noscript><meta http-equiv="refresh" content="10"></noscript>"# : ""
    }

    private var header: HTML {
        """
        <header>
        <div class="brand"><span class="logo" aria-hidden="true"></span>
        <div><h1>siwa-emulator</h1><p>A stand-in for Sign in with Apple. Not Apple.</p></div></div>
        \(panel(.status))
        <div class="tools"><span id="live" class="badge" hidden>connecting</span>
        <details class="menu"><summary class="button quiet">Reset</summary>
        <div><p>Forgets every request, token, consent and fault.</p>
        \(ConsoleButton(label: "Reset everything", control: .reset, body: [:], style: "danger").html(state))
        </div></details></div>
        </header>
        <nav aria-label="Sections"><a href="#requests">Requests</a><a href="#clock">Clock</a>\
        <a href="#faults">Faults</a><a href="#people">Users</a><a href="#sessions">Tokens</a>\
        <a href="#notifications">Notifications</a><a href="#clients">Keys</a>\
        <a href="#switches">Switches</a><a href="#history">Changes</a></nav>
        \(noScript)
        """
    }

    private var noScript: HTML {
        let note: HTML =
            view.reloads
            ? #"It reloads every ten seconds. <a href="/emulator?reload=off">Stop that</a>"#
            : #"<a href="/emulator">Reload every ten seconds</a>"#
        return
            #"<noscript><p class="note">This page works without scripts. \#(note)</p></noscript>"#
    }

    private var requests: HTML {
        let search = view.requestSearch
        let records = state.log.newest(Self.rows, containing: search)
        let rows = records.map { record in
            let found =
                record.number == view.openRequest ? state.log.request(record.number) : nil
            return RequestRow(
                record: record, search: search,
                detail: found.map { RequestDetailView($0.record, $0.details, state).html }
            ).html
        }
        return """
            <section id="requests" aria-labelledby="requests-title">
            <div class="section-head"><h2 id="requests-title">Requests</h2>\(find)\(filter)</div>
            <ol id="log" data-show="\(view.onlyRefused ? "refused" : "all")">\(rows)</ol>
            \(emptyLog)
            </section>
            """
    }

    private var filter: HTML {
        func link(_ show: String, _ label: String, _ isCurrent: Bool) -> HTML {
            let current: HTML = isCurrent ? #" aria-current="true""# : ""
            let address = ConsoleView.address([("show", show)], search: view.requestSearch)
            return #"<a href="\#(address)" data-filter="\#(show)"\#(current)>\#(label)</a>"#
        }
        return """
            <div class="filter" role="group" aria-label="Show">\
            \(link("all", "All", !view.onlyRefused))\
            \(link("refused", "Refused", view.onlyRefused))\
            <button type="button" id="pause" class="quiet" aria-pressed="false" hidden>Pause</button>\
            </div>
            """
    }

    private var find: HTML {
        let show: HTML =
            view.onlyRefused ? #"<input type="hidden" name="show" value="refused">"# : ""
        return """
            <form method="get" action="\(ConsoleRoute.root)" class="find" role="search">\(show)
            <input name="find" type="search" aria-label="Find requests that contain" \
            placeholder="path, client, error, reason" value="\(view.requestSearch)">
            <button class="quiet">Find</button></form>
            """
    }

    private var emptyLog: HTML {
        guard view.requestSearch.isEmpty else {
            return """
                <div class="welcome"><h3>No request contains “\(view.requestSearch)”</h3>
                <p><a href="\(ConsoleRoute.root)">Show all requests</a></p></div>
                """
        }
        let client = state.configuration.clients.first?.clientID.rawValue ?? "com.example.app"
        return """
            <div class="welcome"><h3>No request yet</h3>
            <p>Point your app’s Apple URLs at this server, or sign a user in by hand:</p>
            <pre>curl \(state.origin.hasPrefix("https:") ? "--cacert ca.pem " : "")\(state.origin)/emulator/codes \\
              -d '{"client_id":"\(client)"}'
            siwa exchange --code CODE</pre></div>
            """
    }

    private var faultActions: HTML {
        let clear = ConsoleButton(
            label: "Remove all", control: .faultsClear, body: [:], style: "quiet")
        return #"<p class="end">\#(clear.html(state))</p>"#
    }

    private var search: HTML {
        guard state.service.users.users.count > PeoplePanel.limit else { return "" }
        return """
            <form method="get" action="\(ConsoleRoute.root)#people" class="row-form" data-plain>
            <label>Name, address or sub begins with
            <input name="user" type="search" value="\(view.userSearch)"></label>
            <button>Search</button></form>
            """
    }

}

/// The form that signs a user in.
enum SignInForm {
    static func html(_ state: ConsoleState, _ view: ConsoleView) -> HTML {
        let users = ConsolePanel.userChoices.element(
            "select", with: #"name="user" "#, state, view)
        let clients = state.configuration.clients.map { client -> HTML in
            #"<option value="\#(client.clientID.rawValue)">\#(client.clientID.rawValue)</option>"#
        }
        return """
            <details class="more"><summary>Sign a user in, for a code</summary>
            <form method="post" action="\(Control.codes.path)" class="stack" data-shows="code">
            <input type="hidden" name="token" value="\(state.token)">
            <div class="pair"><label>User \(users)</label>
            <label>Client <select name="client_id">\(clients)</select></label></div>
            <p><button>Sign in</button></p></form></details>
            """
    }

    /// The newest users first: somebody who was just added is about to sign in.
    static func choices(_ state: ConsoleState) -> HTML {
        let users = state.service.users.users.suffix(100).reversed().map { user -> HTML in
            #"<option value="\#(user.name)">\#(user.displayName ?? user.name)</option>"#
        }
        return "\(users)"
    }
}

enum AddUserForm {
    static func html(_ state: ConsoleState) -> HTML {
        """
        <details class="more"><summary>Add a user</summary>
        <form method="post" action="\(Control.users.path)" class="stack">
        <input type="hidden" name="token" value="\(state.token)">
        <div class="pair"><label>Name in requests <input name="name" required maxlength="100" \
        pattern="\\S+" placeholder="dora" autocomplete="off"></label>
        <label>Email <input name="email" type="email" placeholder="dora@example.com" \
        autocomplete="off"></label></div>
        <div class="pair"><label>First name <input name="first_name" autocomplete="off"></label>
        <label>Last name <input name="last_name" autocomplete="off"></label></div>
        <label class="check"><input type="checkbox" name="is_private_email:boolean" value="true">
        The address is a relay of Apple’s</label>
        <p><button>Add</button></p></form></details>
        """
    }
}

extension Control {
    /// The section of the console that shows its effect.
    fileprivate var section: String {
        switch self {
        case .faults, .faultsClear: "faults"
        case .clock: "clock"
        case .switches: "switches"
        case .notifications, .notificationsResend, .notificationsSent, .receiver: "notifications"
        case .users, .codes, .tokens, .sessions, .accessTokens, .seed: "people"
        case .keysRotate, .keysRevoke, .keysPrivate, .transfer: "clients"
        case .requests, .baits, .reset: "history"
        }
    }
}
