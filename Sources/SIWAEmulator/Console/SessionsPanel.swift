internal import SIWACrypto
internal import SIWALifecycle

/// The latest sessions, and whether their refresh tokens are valid.
enum SessionsPanel {
    private static let limit = 12

    static func html(_ state: ConsoleState) -> HTML {
        let sessions = state.service.ledger.newestSessions(limit)
        let ledger = state.service.ledger
        guard !sessions.isEmpty else {
            return #"<p class="empty">No token was issued yet.</p>"#
        }
        return """
            <p class="caption">\(String(ledger.aliveCount)) of \(String(ledger.sessionCount)) sessions \
            are alive\(ledger.sessionCount > limit ? "; the latest \(limit)" : "")</p>
            <ul class="lines">\(sessions.map(line))</ul>
            """
    }

    private static func line(_ session: Ledger.Session) -> HTML {
        let token = session.refreshToken.map { SecretText($0).fingerprint }
        return """
            <li class="session"><span>\(session.user?.name ?? "team \(session.teamID)") \
            <span class="caption">with \(session.clientID.rawValue), signed in \
            \(session.signedInAt.element)</span></span> \
            <span><span class="mono caption">\(token.map { "r•••• \($0)" } ?? "no refresh token")</span> \
            \(session.isRevoked ? badge("revoked", "") : badge("alive", "ok"))</span></li>
            """
    }

    private static func badge(_ text: String, _ style: String) -> HTML {
        #"<span class="badge \#(style)">\#(text)</span>"#
    }
}
