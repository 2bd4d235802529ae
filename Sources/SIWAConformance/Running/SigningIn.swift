internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

// One sign-in.
extension ConformRun {
    /// Signs in, waits once if the backend limits the rate, and notes how it behaved.
    func signIn(
        _ flow: Flow, _ user: TestUser, _ deviation: Deviation = Deviation(), for label: String
    ) async throws -> Attempt {
        var attempt = try await signInOnce(flow, user, deviation)
        if attempt.verdict == .limited {
            try await Task.sleep(for: attempt.retryAfter)
            attempt = try await signInOnce(flow, user, deviation)
        }
        manners.note(attempt, label)
        if attempt.verdict == .gone { throw ConformError.gone }
        return attempt
    }

    /// Signs in as one should, within a check.
    ///
    /// - Throws: ``NotJudged`` if that is refused.
    func good(_ flow: Flow, _ user: TestUser) async throws -> Attempt {
        let attempt = try await signIn(flow, user, for: "the good sign-in")
        guard attempt.isSignedIn else {
            throw NotJudged(reason: "a good sign-in within it was not accepted: \(attempt.outcome)")
        }
        return attempt
    }

    private func signInOnce(
        _ flow: Flow, _ user: TestUser, _ deviation: Deviation
    ) async throws -> Attempt {
        try await pace()
        var browser = Browser(file, transport, timeout: patience ?? options.timeout)
        do {
            switch flow {
            case .native: return try await native(user, deviation, &browser)
            case .web: return try await web(user, deviation, &browser)
            }
        } catch let error as TransportError {
            let verdict: Attempt.Verdict =
                switch error.kind {
                case .timeout: .slow
                case .connect, .nameLookup: .gone
                case .cut, .malformed: .cut
                default: .refused
                }
            return Attempt(verdict: verdict, status: nil, browser: browser)
        }
    }

    /// The templates' values for a user.
    func values(of user: TestUser) throws -> Values {
        var values = Values()
        values.known = [
            "nonce": .string(try Random.bytes(16).hexadecimal),
            "state": .string(try Random.bytes(16).hexadecimal),
            "email": .string(user.email), "sub": .string(user.subject),
            "user": [
                "first_name": "Con", "last_name": "Form", "email": .string(user.email),
                "name": ["firstName": "Con", "lastName": "Form"],
            ],
        ]
        return values
    }

    private func native(
        _ user: TestUser, _ deviation: Deviation, _ browser: inout Browser
    ) async throws -> Attempt {
        guard let rules = file.signIn else {
            return Attempt(verdict: .refused, status: nil, browser: browser)
        }
        var values = try values(of: user)
        values.omitted = deviation.omitted
        values.known.merge(deviation.foreign) { $1 }
        let before = rules.steps.prefix { !$0.usesCredential }
        for step in before where !deviation.nonce.leavesOut(step) {
            _ = try await browser.take(step, &values)
        }
        (values.extra, values.isDeep) = (deviation.extra, deviation.isDeep)
        if let repeated = deviation.repeated, rules.nonce?.source == .client {
            values.known["nonce"] = repeated.nonce.map(JSON.string)
        }
        let raw = try await nonce(of: values, deviation.nonce, before)
        let nonce = try rules.nonce.flatMap { rule in try raw.map(rule.form.claim) }
        let credentials = try await credentials(rules.clientID, user, nonce, raw, deviation)
        switch deviation.nonce {
        case .hashed: values.known["nonce"] = nonce.map(JSON.string)
        case .sent(let other): values.known["nonce"] = other
        case .none, .ofAnother, .notAsked: break
        }
        values.known["code"] = .string(credentials.code)
        values.known["id_token"] = .string(credentials.idToken)
        if rules.steps.contains(where: { $0.uses("access_token") }) {
            values.known["access_token"] = .string(try await apple.accessToken(of: user.name))
        }
        var page: VisitedPage?
        for step in rules.steps.dropFirst(before.count) {
            page = try await browser.take(step, &values)
        }
        var attempt = try await judge(page, rules.signedIn, browser, values)
        attempt.credentials = credentials
        return attempt
    }

    /// The nonce whose claim the token has, before it is hashed.
    private func nonce(
        of values: Values, _ change: NonceChange, _ before: ArraySlice<Step>
    ) async throws -> String? {
        switch change {
        case .notAsked(isInToken: false): return nil
        case .ofAnother:
            var browser = Browser(file, transport, timeout: options.timeout)
            var others = try await self.values(of: newUser())
            for step in before { _ = try await browser.take(step, &others) }
            return others.known["nonce"]?.string
        default: return values.known["nonce"]?.string
        }
    }

    private func credentials(
        _ client: String, _ user: TestUser, _ nonce: String?, _ raw: String?,
        _ deviation: Deviation
    ) async throws -> Credentials {
        if let repeated = deviation.repeated { return repeated }
        let good = try await issue(client, user, nonce: nonce)
        let sent = try await deliver(
            deviation, good, client, .native, user, nonce: nonce, raw: raw)
        return Credentials(code: good.code, idToken: sent, nonce: raw)
    }

    /// Judges the last answer: by `signed_in`, or by the account that `whoami` names.
    func judge(
        _ page: VisitedPage?, _ rule: SignedInRule, _ browser: Browser, _ values: Values
    ) async throws -> Attempt {
        var attempt = Attempt(
            verdict: .refused, status: page?.response.status, browser: browser, values: values,
            body: page?.response.body ?? [])
        guard let page else { return attempt }
        if page.response.status == 429 {
            return Attempt(
                verdict: .limited, status: 429, retryAfter: Attempt.wait(askedBy: page.response),
                browser: browser)
        }
        let account = try await account(attempt)
        if account != nil || rule.matches(page) {
            attempt = Attempt(
                verdict: .signedIn(account: account), status: page.response.status,
                browser: browser, values: values, body: page.response.body)
        }
        return attempt
    }

    /// The account that `whoami` names; nil if it names none.
    func account(_ attempt: Attempt) async throws -> String? {
        guard let whoami = file.whoami else { return nil }
        var (browser, values) = (attempt.browser, attempt.values)
        values.extra = []
        let page = try await browser.take(whoami.step, &values)
        manners.note(page.response.status, "whoami")
        guard (200..<300).contains(page.response.status) else { return nil }
        let account = (try? JSON(page.response.body))?.value(at: whoami.account)
        guard let account, account != .null, account != "" else { return nil }
        return account.plainText == anonymous ? nil : account.plainText
    }
}

extension Manners {
    /// Notes how the backend answered.
    mutating func note(_ attempt: Attempt, _ label: String) {
        sent += 1
        switch attempt.verdict {
        case .slow: slow.append(label)
        case .cut: cut.append(label)
        default: break
        }
        for status in attempt.browser.statuses { note(status, label) }
    }

    /// Notes a status.
    mutating func note(_ status: Int?, _ label: String) {
        if let status, status >= 500 { errors.append("\(status) for \(label)") }
    }
}

extension NonceChange {
    /// Whether a step is left out.
    fileprivate func leavesOut(_ step: Step) -> Bool {
        if case .notAsked = self { step.saves.contains { $0.name == "nonce" } } else { false }
    }
}
