internal import SIWAJOSE
package import SIWALifecycle

extension Finding {
    /// The effect of a clock offset (the server's clock minus this machine's) on secrets; nil if it
    /// is harmless.
    ///
    /// A clock ahead of the server's sets `iat` in the future; a clock behind it makes a secret
    /// expire before it arrives.
    package static func clock(
        off offset: Duration, secretLifetime: Duration, server: BaseURL
    ) -> Finding? {
        if offset < .zero - ClientSecret.backdating {
            return Finding(
                .clockAhead, seen: difference(offset, server),
                advice: advice(server))
        }
        guard offset >= secretLifetime else { return nil }
        return Finding(
            .clockBehind,
            seen: "\(difference(offset, server)), longer than a secret is valid",
            advice: advice(server))
    }

    /// The warning about a wrong clock; nil if the clock is right.
    ///
    /// - Parameter offset: the server's clock minus this machine's; nil if it is not known.
    package static func clockWarning(off offset: Duration?, server: BaseURL) -> String? {
        guard let offset, offset.isWrongClock else { return nil }
        return "\(difference(offset, server)): \(advice(server))"
    }

    private static func difference(_ offset: Duration, _ server: BaseURL) -> String {
        let other = server == .apple ? "Apple's" : "that of \(server)"
        let direction = offset < .zero ? "ahead of" : "behind"
        return "this machine's clock is \(offset.words()) \(direction) \(other)"
    }

    private static func advice(_ server: BaseURL) -> String {
        let advice = "set the clock, or keep it right: \(clockSynchronization)"
        guard server != .apple else { return advice }
        return """
            if this is siwa-emulator and its clock was moved, move it back \
            (POST /emulator/clock {"offset": 0}) or let it check secrets against the real time \
            (POST /emulator/switches {"secret_clock": "real"}); otherwise \(advice)
            """
    }
}

/// How a machine keeps its clock right; a fresh Debian lacks the package.
package let clockSynchronization =
    "'timedatectl set-ntp true', on Debian with the package systemd-timesyncd"
