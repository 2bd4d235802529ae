internal import SIWALifecycle

// POST /auth/revoke: answers almost everything with 200 and an empty body, so that only the verdict
// in the log tells whether something was revoked.
extension Service {
    mutating func revoke(_ form: ReceivedForm) throws -> Answer {
        try refuseRepetition(in: form)
        guard form["client_id"] != nil, form["client_secret"] != nil else {
            // Recorded for an empty request.
            throw Refusal(
                .invalidClient,
                in: "client_id or client_secret", because: "missing or empty")
        }
        let credentials = try credentials(form)
        if form["token"] == nil, behaviors.revokeMissingToken == .ignored {
            return silence(Self.refusal("missing or empty"))
        }
        let text = try form.required("token")
        if behaviors.revokeTakesCode, let code = ledger.code(text) {
            return try revoke(code, text, credentials)
        }
        guard let (id, kind) = find(token: text) else {
            return silence(Self.refusal(TokenText.appearance(of: text)))
        }
        examination.passed("token", "\(kind.name), issued to \(ledger[id].clientID)")
        if let silence = try check(credentials, issuedTo: ledger[id].clientID) { return silence }
        guard !ledger[id].isRevoked else {
            return silence(Self.refusal("its session was revoked before"))
        }
        try checkHint(form["token_type_hint"], against: kind)
        ledger.revoke(id, scope: behaviors.revokeScope, among: configuration.clients)
        return Answer(nothing, because: "ok: revoked, by its \(kind.hint)")
    }

    /// Ends an unused code.
    private mutating func revoke(
        _ code: Ledger.Code, _ text: String, _ credentials: ClientCredentials
    ) throws -> Answer {
        if let silence = try check(credentials, issuedTo: code.clientID) { return silence }
        ledger.forgetCode(text)
        return Answer(nothing, because: "ok: revoked, by its code")
    }

    /// The answer to a client that the token was not issued to; nil if it was.
    private func check(
        _ credentials: ClientCredentials, issuedTo clientID: ClientID
    ) throws -> Answer? {
        do {
            try authenticate(credentials)
        } catch let refusal as Refusal where !behaviors.revokeChecksClient {
            return silence(refusal)
        }
        guard clientID.rawValue != credentials.clientID else { return nil }
        return silence(Self.refusal("issued to \(clientID)"))
    }

    private func find(token text: String) -> (Ledger.SessionID, TokenText.Kind)? {
        if let id = ledger.session(refreshToken: text) { return (id, .refresh) }
        return ledger.session(accessToken: text, at: now()).map { ($0, .access) }
    }

    private func checkHint(_ hint: String?, against kind: TokenText.Kind) throws(Refusal) {
        guard behaviors.revokeChecksHint, let hint, hint != kind.hint else { return }
        throw Refusal(
            .invalidRequest, in: "token_type_hint",
            because: "this is \(kind.name), not what it says")
    }

    /// A refusal that Apple does not reveal.
    private static func refusal(_ fault: String) -> Refusal {
        Refusal(.invalidRequest, in: "token", because: fault)
    }

    /// 200 with an empty body, although nothing was revoked.
    private func silence(_ refusal: Refusal) -> Answer {
        var answer = Answer(nothing, because: "nothing revoked: \(refusal.verdict)")
        answer.refusal = refusal
        return answer
    }

    private var nothing: Page {
        behaviors.revokeContentType == .json ? .nothing.labelled : .nothing
    }
}

extension TokenText.Kind {
    /// The value of `token_type_hint`.
    fileprivate var hint: String {
        switch self {
        case .code: "code"
        case .access: "access_token"
        case .refresh: "refresh_token"
        }
    }
}
