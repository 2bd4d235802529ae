internal import SIWAJOSE

/// A part of the console that events replace as a whole.
enum ConsolePanel: String, CaseIterable {
    case status
    case clock
    case faults
    case people
    case userChoices = "user_choices"
    case sessions
    case clients
    case switches
    case notifications
    case history

    func html(_ state: ConsoleState, _ view: ConsoleView) -> HTML {
        switch self {
        case .status: StatusPanel.html(state)
        case .clock: ClockPanel.html(state)
        case .faults: FaultsPanel.html(state)
        case .people: PeoplePanel.html(state, view)
        case .userChoices: SignInForm.choices(state)
        case .sessions: SessionsPanel.html(state)
        case .clients: ClientsPanel.html(state)
        case .switches: SwitchesPanel.html(state)
        case .notifications: NotificationsPanel.html(state)
        case .history: HistoryPanel.html(state)
        }
    }

    /// The element that events replace the content of.
    func element(_ state: ConsoleState, _ view: ConsoleView) -> HTML {
        element("div", state, view)
    }

    /// The same with another tag, and its attributes.
    func element(
        _ tag: HTML, with attributes: HTML = "", _ state: ConsoleState, _ view: ConsoleView
    ) -> HTML {
        #"<\#(tag) \#(attributes)data-panel="\#(rawValue)">\#(html(state, view))</\#(tag)>"#
    }
}

/// A button that sends one control request.
struct ConsoleButton {
    let label: String
    let control: Control
    let body: JSON
    var style = ""
    /// What the label continues with for screen readers, if it is ambiguous alone. Voice control
    /// needs the visible text in the accessible name (WCAG 2.5.3).
    var object: String?

    func html(_ state: ConsoleState) -> HTML {
        let name: HTML = object.map { #" aria-label="\#(label) \#($0)""# } ?? ""
        return """
            <form method="post" action="\(control.path)">\
            <input type="hidden" name="token" value="\(state.token)">\
            <button class="\(style)" name="json" value="\(body.text)"\(name)>\(label)</button></form>
            """
    }
}

extension Control {
    var path: String { Self.root + rawValue }
}

extension NumericDate {
    /// The time of day; the console shows the date once, at the top.
    var timeOfDay: String { String(rfc3339.dropFirst(11).prefix(8)) }

    var element: HTML { #"<time datetime="\#(rfc3339)" title="\#(rfc3339)">\#(timeOfDay)</time>"# }
}
