internal import SIWAJOSE

/// The claims of a client_secret, decoded; the signature is not shown, so that the secret cannot be copied.
struct ClientSecretView {
    private let token: CompactJWS
    private let now: NumericDate

    /// Nil if no readable client_secret was sent.
    init?(_ details: RequestDetails) {
        guard let token = details["client_secret"].flatMap({ try? CompactJWS($0) }) else {
            return nil
        }
        self.token = token
        now = details.at
    }

    var html: HTML {
        """
        <h4>client_secret, decoded</h4>
        <dl class="fields">
        \(rows(token.header, "header"))
        \(rows(token.payload, "claim"))
        </dl>
        """
    }

    private func rows(_ object: JSON, _ kind: String) -> [HTML] {
        (object.members ?? []).prefix(16).map { member in
            """
            <div><dt>\(member.name.clipped) <span class="caption">\(kind)</span></dt>\
            <dd>\((member.value.string ?? member.value.text).clipped)\(time(member))</dd></div>
            """
        }
    }

    /// A time as a date, with its distance from now.
    private func time(_ member: JSON.Member) -> HTML {
        guard ["exp", "iat", "nbf"].contains(member.name), let seconds = member.value.integer,
            (0..<253_402_300_800).contains(seconds)
        else { return "" }
        let date = NumericDate(seconds)
        let away =
            date > now
            ? "in \((date - now).words(units: 2))" : "\((now - date).words(units: 2)) ago"
        return #" <span class="caption">\#(date.rfc3339), \#(away)</span>"#
    }
}
