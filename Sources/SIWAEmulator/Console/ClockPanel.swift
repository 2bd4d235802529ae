internal import SIWAJOSE
internal import SIWALifecycle

/// The buttons that move the emulator's clock, and the effect on client secrets.
enum ClockPanel {
    private static let steps: [(String, JSON)] = [
        ("+1 hour", ["forward": "1h"]), ("+1 day", ["forward": "1d"]),
        ("+6 months", ["forward": "183d"]), ("Back to now", ["offset": 0]),
    ]

    static func html(_ state: ConsoleState) -> HTML {
        let buttons = steps.map {
            ConsoleButton(label: $0, control: .clock, body: $1).html(state)
        }
        return """
            <div class="buttons" role="group" aria-label="Move the emulator’s time">\(buttons)</div>
            <p class="caption">Codes live 5 minutes, access tokens an hour, client secrets six \
            months at most.</p>
            \(state.clockOffset == .zero ? "" : secrets(state))
            """
    }

    private static func secrets(_ state: ConsoleState) -> HTML {
        let isMoved = state.service.behaviors.secretClock == .moved
        let button = ConsoleButton(
            label: isMoved ? "Judge them by the real time" : "Judge them by this time",
            control: .switches, body: ["secret_clock": isMoved ? "real" : "moved"], style: "quiet")
        return """
            <p class="aside"><span class="caption">Client secrets are judged by \
            \(isMoved ? "this time: one minted by your machine’s clock may be refused."
                : "the real time.")</span> \(button.html(state))</p>
            """
    }
}
