internal import SIWAJOSE

/// The queued faults, and the form that queues one.
enum FaultsPanel {
    static func html(_ state: ConsoleState) -> HTML {
        guard !state.faults.waiting.isEmpty else {
            return #"<p class="empty">No fault waits: every request gets Apple’s own answer.</p>"#
        }
        let items = state.faults.waiting.prefix(20).map { fault -> HTML in
            let clear = ConsoleButton(
                label: "Remove", control: .faultsClear, body: ["number": .integer(fault.number)],
                style: "quiet", object: "fault \(fault.number)")
            return """
                <li><span><b>\(fault.summary)</b> \
                <span class="caption">\(fault.route?.rawValue ?? "any endpoint") · \
                \(fault.count == 1 ? "once" : "\(fault.count) times")\
                \(fault.percent < 100 ? " · \(fault.percent) % of requests" : "")</span></span>\
                \(clear.html(state))</li>
                """
        }
        let more = state.faults.waiting.count - items.count
        let rest: HTML = more > 0 ? #"<li class="empty">and \#(String(more)) more</li>"# : ""
        return "<ul class=\"lines\">\(items)\(rest)</ul>"
    }

    /// The faults that buttons queue, by the label of the button.
    private static let presets: [(String, JSON)] = [
        ("Outage (503)", ["status": 503]),
        ("Throttled (429)", ["status": 429, "headers": ["Retry-After": "1"]]),
        ("Slow, 5 s", ["delay": "5s"]),
        ("Answer lost", ["cut": "no_answer"]),
        ("Cut in the body", ["cut": "mid_body"]),
        ("invalid_client", ["error": "invalid_client"]),
        ("invalid_grant", ["error": "invalid_grant"]),
        ("HTML, 200", ["status": 200, "page": "html"]),
        ("Empty, 200", ["status": 200, "page": "empty"]),
    ]

    static func form(_ state: ConsoleState) -> HTML {
        let routes = EmulatorRoute.allCases.map { route -> HTML in
            let chosen: HTML = route == .token ? " selected" : ""
            return #"<option value="\#(route.rawValue)"\#(chosen)>\#(route.rawValue)</option>"#
        }
        let buttons = presets.map { label, body -> HTML in
            #"<button name="json" value="\#(body.text)">\#(label)</button>"#
        }
        return """
            <form method="post" action="\(Control.faults.path)" class="stack">
            <input type="hidden" name="token" value="\(state.token)">
            <div class="pair">
            <label>Next requests to
            <select name="endpoint"><option value="">any endpoint</option>\(routes)</select></label>
            <label class="short">How many
            <input name="count:integer" type="number" min="1" max="1000000" value="1"></label>
            </div>
            <div class="buttons" role="group" aria-label="Set a fault">\(buttons)</div>
            </form>
            """
    }
}
