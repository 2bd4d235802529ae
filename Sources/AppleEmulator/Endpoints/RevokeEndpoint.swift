internal import SignInWithApple

// POST /auth/revoke: 200 with no byte to almost anything, so that the verdict is the
// only place that says whether something was revoked.
extension Service {
    mutating func revoke(_ form: ReceivedForm) throws -> Answer {
        try form.refuseRepetition()
        guard form["client_id"] != nil, form["client_secret"] != nil else {
            // Recorded for an empty request.
            throw Refusal(
                .invalidClient, check: "client_id or client_secret", because: "missing or empty")
        }
        let credentials = try ClientCredentials(form)
        let text = try form.required("token")
        guard let (id, kind) = find(token: text) else {
            return silence("token", TokenText.appearance(of: text))
        }
        form.trail.passed("token", "known: \(kind.name)")
        do {
            try authenticate(credentials)
        } catch let refusal as Refusal where !switches.revokeChecksClient {
            return silence(refusal.check)
        }
        guard ledger[id].clientID.rawValue == credentials.clientID else {
            return silence("token", "issued to \(ledger[id].clientID)")
        }
        guard !ledger[id].isRevoked else {
            return silence("token", "its session was revoked before")
        }
        form.trail.passed("token", "issued to \(credentials.clientID), its session is alive")
        try checkHint(form["token_type_hint"], against: kind)
        ledger.revoke(id, scope: switches.revokeScope)
        return Answer(.nothing, because: "ok: revoked, by its \(kind.hint)")
    }

    private func find(token text: String) -> (Ledger.SessionID, TokenText.Kind)? {
        if let id = ledger.session(refreshToken: text) { return (id, .refresh) }
        return ledger.session(accessToken: text, at: now()).map { ($0, .access) }
    }

    private func checkHint(_ hint: String?, against kind: TokenText.Kind) throws(Refusal) {
        guard switches.revokeChecksHint, let hint, hint != kind.hint else { return }
        throw Refusal(
            .invalidRequest, check: "token_type_hint",
            because: "this is \(kind.name), not what it says")
    }

    private func silence(_ check: RequestCheck) -> Answer {
        Answer(.nothing, "nothing revoked: ", failing: check)
    }

    private func silence(_ name: String, _ seen: String) -> Answer {
        silence(RequestCheck(failed: name, seen))
    }
}

extension TokenText.Kind {
    /// What `token_type_hint` calls it.
    fileprivate var hint: String {
        switch self {
        case .code: "code"
        case .access: "access_token"
        case .refresh: "refresh_token"
        }
    }
}
