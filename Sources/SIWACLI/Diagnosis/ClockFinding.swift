internal import JOSE
internal import Lifecycle

extension Finding {
    /// The effect of a clock offset (the server's clock minus this machine's) on secrets; nil if it
    /// is harmless.
    ///
    /// A clock ahead of the server's sets `iat` in the future; a clock behind it makes a secret
    /// expire before it arrives.
    static func clock(
        off offset: Duration, secretLifetime: Duration, server: BaseURL
    ) -> Finding? {
        let difference = offset.words()
        let other = server == .apple ? "Apple's" : "that of \(server)"
        if offset < .zero - ClientSecret.backdating {
            return Finding(
                .clockAhead, seen: "this machine's clock is \(difference) ahead of \(other)",
                advice: advice(server))
        }
        guard offset >= secretLifetime else { return nil }
        return Finding(
            .clockBehind,
            seen:
                "this machine's clock is \(difference) behind \(other), longer than a secret is valid",
            advice: advice(server))
    }

    private static func advice(_ server: BaseURL) -> String {
        let advice = "set the clock, or synchronize it: 'timedatectl set-ntp true'"
        guard server != .apple else { return advice }
        return """
            if this is siwa-emulator and its clock was moved, move it back \
            (POST /emulator/clock {"offset": 0}) or let it check secrets against the real time \
            (POST /emulator/switches {"secret_clock": "real"}); otherwise \(advice)
            """
    }
}
