internal import SIWAJOSE

// What comes before anything bad is sent.
extension ConformRun {
    /// Retries the good sign-in until it succeeds.
    func waitForGood(_ flow: Flow) async throws {
        let end = ContinuousClock.now + options.patience
        let first = try await latestRequest()
        var isFirst = true
        while true {
            let user = try await newUser()
            let before = try await latestRequest()
            do {
                let attempt = try await signIn(flow, user, for: "the good sign-in")
                if attempt.isSignedIn {
                    exchanges[flow] = try await !requests(after: before, "/auth/token").isEmpty
                    return
                }
                if ContinuousClock.now >= end {
                    throw try await failure(flow, attempt, since: first)
                }
                if isFirst { noteWaiting(flow, attempt.outcome) }
            } catch ConformError.gone where ContinuousClock.now < end {
                if isFirst { noteWaiting(flow, "cannot connect") }
            }
            isFirst = false
            try await Task.sleep(for: .seconds(2))
        }
    }

    private func noteWaiting(_ flow: Flow, _ outcome: String) {
        note(
            "the good sign-in (\(flow.rawValue)) does not succeed yet: \(outcome); it is tried again for"
                + " \(options.patience.components.seconds) seconds")
    }

    /// Requires that a good sign-in still succeeds.
    func requireGood(_ flow: Flow) async throws {
        let first = try await latestRequest()
        var last: Attempt?
        for pause in [0, 2, 5, 10] {
            try await Task.sleep(for: .seconds(pause))
            let attempt = try await signIn(flow, newUser(), for: "the good sign-in")
            if attempt.isSignedIn { return last == nil ? () : try doubtHeld() }
            last = attempt
        }
        if try await isGoodAfterRest(flow) { return try doubtHeld() }
        guard let last else { return }
        throw try await failure(flow, last, before: "it succeeded before; now: ", since: first)
    }

    /// Some backends fetch no keys for a minute after unknown `kid`s: waits for its end.
    private func isGoodAfterRest(_ flow: Flow) async throws -> Bool {
        guard let last = lastUnknownKey, last + .seconds(65) > .now else { return false }
        try await Task.sleep(until: last + .seconds(65), clock: .continuous)
        return try await signIn(flow, newUser(), for: "the good sign-in").isSignedIn
    }

    private func failure(
        _ flow: Flow, _ attempt: Attempt, before: String = "", since first: Int
    ) async throws -> ConformError {
        let seen = try await requests(after: first, nil)
        var hints = Self.hints(attempt)
        if seen.isEmpty, hints.isEmpty, before.isEmpty {
            hints += [
                """
                the backend asked this emulator for nothing: let appleid.apple.com lead here \
                (hosts entry, port 443, or the backend's setting for Apple's URL), trust DIR/ca.pem, \
                and restart the backend if it has cached Apple's real keys
                """
            ]
        } else if !seen.isEmpty {
            let lines = seen.suffix(5).map { record in
                [record["method"], record["path"], record["error"], record["verdict"]]
                    .compactMap { $0?.string }.joined(separator: " ")
            }
            hints.append("the backend asked: " + lines.joined(separator: "; "))
        }
        hints.append("compare the request: siwa-emulator conform FILE --dry-run")
        return .goodSignIn(flow: flow.rawValue, outcome: before + attempt.outcome, hints: hints)
    }

    /// What the answer itself tells about the mistake.
    private static func hints(_ attempt: Attempt) -> [String] {
        if attempt.verdict == .slow { return ["give a --timeout longer than the backend needs"] }
        if let cookie = attempt.browser.withheld.sorted().first {
            return [
                """
                the cookie '\(cookie)' does not come with Apple's form, which another site posts: \
                give it SameSite=None and Secure
                """
            ]
        }
        let status = attempt.status.map { "the backend answered with \($0)" }
        switch attempt.status {
        case 404, 405: return [(status ?? "") + ": compare the path and the method in FILE"]
        case 400, 415, 422:
            return [(status ?? "") + ": compare the body and its form with what it expects"]
        case 429: return ["the backend limits the rate: give a lower 'rate', or raise its limit"]
        default: return []
        }
    }

    /// Requires that the target fetched this emulator's keys or exchanged a code with it.
    ///
    /// A target that has the keys of an earlier run need not ask again: a new key makes it.
    func prove(since first: Int) async throws {
        guard options.needsProof else { return }
        if try await isProved(since: first) { return }
        note("the backend has asked for nothing yet: a new key is published, for which it must ask")
        _ = try await apple.control("keys/rotate")
        let end = ContinuousClock.now + options.newKeyPatience
        repeat {
            for flow in flows {
                _ = try await signIn(flow, newUser(), for: "a good sign-in under a new key")
            }
            if try await isProved(since: first) {
                for flow in flows { try await waitForGood(flow) }
                return
            }
            try await Task.sleep(for: .seconds(2))
        } while ContinuousClock.now < end
        throw ConformError.noProof
    }

    private func isProved(since first: Int) async throws -> Bool {
        let paths = ["/auth/keys", "/auth/token"]
        return try await requests(after: first, nil).contains { record in
            record["path"]?.string.map(paths.contains) ?? false
        }
    }

    /// Requires that `whoami` tells accounts apart: the same one for the same user, another one for
    /// another user. What it names to a stranger is no account.
    func checkWhoami(_ flow: Flow) async throws {
        guard file.whoami != nil else { return }
        let stranger = Attempt(
            verdict: .refused, status: nil,
            browser: Browser(file, transport, timeout: options.timeout))
        if anonymous == nil { anonymous = try? await account(stranger) }
        let (one, two) = (try await newUser(), try await newUser())
        var accounts: [String?] = []
        for user in [one, one, two] {
            let attempt = try await signIn(flow, user, for: "the good sign-in")
            if !attempt.isSignedIn, attempt.status == 429 || attempt.status == nil {
                throw try await failure(flow, attempt, since: latestRequest())
            }
            accounts.append(attempt.account)
        }
        let named = accounts.compactMap { $0 }
        guard named.count == accounts.count else {
            throw ConformError.whoami(
                anonymous.map { "names '\($0.clipped(to: 60))' with and without a sign-in" }
                    ?? "names no account after a good sign-in: compare its path and 'account'")
        }
        guard named[0] == named[1] else {
            throw ConformError.whoami("names two accounts after two sign-ins of one user")
        }
        guard named[0] != named[2] else {
            throw ConformError.whoami("names one account after the sign-ins of two users")
        }
    }

    /// Finds out which identity token the backend believes: that of the request, or that of the
    /// exchange.
    func calibrate(_ flow: Flow) async throws {
        guard exchanges[flow] == true else { return channels[flow] = .request }
        let (token, code) = (try await newUser(), try await newUser())
        let mixed = try await signIn(
            flow, code, Deviation(tokenUser: token, hasHashOfCode: true), for: "the calibration")
        guard mixed.isSignedIn else { return channels[flow] = .both }
        guard file.whoami != nil else {
            // Who believes the posted token cannot believe one that says nothing.
            let empty = BadToken.text("T00", "an empty token") { good, _ in
                good.input("{}", "{}") + ".AAAA"
            }
            let ignored = try await signIn(
                flow, newUser(), Deviation(token: empty, channel: .request), for: "the calibration")
            return channels[flow] = ignored.isSignedIn ? .exchange : .request
        }
        let own = try await signIn(flow, token, for: "the good sign-in").account
        channels[flow] = mixed.account == own ? .request : .exchange
    }
}
