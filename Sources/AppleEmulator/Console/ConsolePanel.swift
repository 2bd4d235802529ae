internal import JOSE

/// A part of the console that events replace as a whole.
enum ConsolePanel: String, CaseIterable {
    case status
    case clock
    case faults
    case people
    case sessions
    case clients
    case notifications
    case history

    func html(_ state: ConsoleState, _ view: ConsoleView) -> HTML {
        switch self {
        case .status: StatusPanel.html(state)
        case .clock: ClockPanel.html(state)
        case .faults: FaultsPanel.html(state)
        case .people: PeoplePanel.html(state, view)
        case .sessions: SessionsPanel.html(state)
        case .clients: ClientsPanel.html(state)
        case .notifications: NotificationsPanel.html(state)
        case .history: HistoryPanel.html(state)
        }
    }

    /// The element that events replace the content of.
    func element(_ state: ConsoleState, _ view: ConsoleView) -> HTML {
        #"<div data-panel="\#(rawValue)">\#(html(state, view))</div>"#
    }
}

/// A button that sends one control request.
struct ConsoleButton {
    let label: String
    let control: Control
    let body: JSON
    var style = ""
    /// The label for screen readers, if the visible label is ambiguous.
    var description: String?

    func html(_ state: ConsoleState) -> HTML {
        let name: HTML = description.map { #" aria-label="\#($0)""# } ?? ""
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

    /// A `<time>` element.
    var element: HTML { #"<time datetime="\#(rfc3339)" title="\#(rfc3339)">\#(timeOfDay)</time>"# }
}
