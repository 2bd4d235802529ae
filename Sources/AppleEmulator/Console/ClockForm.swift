internal import SignInWithApple

/// The buttons that move the emulator's time.
enum ClockForm {
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
            <p class="caption">Codes live 5 minutes, access tokens an hour, client secrets at most \
            six months. After a jump mint a new client_secret: your machine’s clock stays.</p>
            """
    }
}
