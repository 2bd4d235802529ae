internal import SIWAJOSE

/// The switches that differ from their defaults, and the forms that set one.
enum SwitchesPanel {
    static func html(_ state: ConsoleState) -> HTML {
        let changed = state.service.behaviors.settings.filter { !$0.isStandard }
        guard !changed.isEmpty else {
            return #"<p class="empty">Every switch is at its default.</p>"#
        }
        let items = changed.map { setting -> HTML in
            let back = ConsoleButton(
                label: "Back to \(setting.standard.word)", control: .switches,
                body: .object([JSON.Member(setting.name, setting.standard)]), style: "quiet",
                object: "for \(setting.name)")
            return """
                <li><span><span class="mono">\(setting.name)</span> \
                <b>\(setting.value.word)</b></span>\(back.html(state))</li>
                """
        }
        return "<ul class=\"lines\">\(items)</ul>"
    }

    /// A form for the switches that have a few values, and one for those that are a duration.
    static func form(_ state: ConsoleState) -> HTML {
        let settings = state.service.behaviors.settings
        let groups = settings.filter { !$0.choices.isEmpty }.map(group)
        let durations = settings.filter(\.choices.isEmpty).map { setting -> HTML in
            """
            <label>\(setting.name) <input name="\(setting.name)" \
            placeholder="\(setting.standard.word)s" autocomplete="off"></label>
            """
        }
        return """
            <details class="more"><summary>Set a switch</summary>
            <form method="post" action="\(Control.switches.path)" class="stack">
            <input type="hidden" name="token" value="\(state.token)">
            <label>Switch and value <select name="json">\(groups)</select></label>
            <p><button>Set</button></p></form></details>
            <details class="more"><summary>Set a duration</summary>
            <form method="post" action="\(Control.switches.path)" class="stack">
            <input type="hidden" name="token" value="\(state.token)">
            <div class="pair">\(durations)</div>
            <p><button>Set durations</button></p></form></details>
            """
    }

    private static func group(_ setting: Behaviors.Setting) -> HTML {
        let options = setting.choices.map { choice -> HTML in
            let body = JSON.object([JSON.Member(setting.name, choice)])
            let note = choice == setting.standard ? " (default)" : ""
            return """
                <option value="\(body.text)">\(setting.name): \(choice.word)\(note)</option>
                """
        }
        return #"<optgroup label="\#(setting.name)">\#(options)</optgroup>"#
    }
}

extension JSON {
    /// A value as the table of switches writes it: a word without quotation marks.
    fileprivate var word: String { string ?? text }
}
