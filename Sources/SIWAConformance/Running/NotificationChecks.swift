internal import SIWAJOSE
internal import SIWALifecycle

// N: notifications.
extension ConformRun {
    func checkNotifications() async throws {
        let reason = file.notifications == nil ? "the file has no 'notifications'" : nil
        try await check("N01", nil, skip: reason) {
            let payload = try await notification("email-disabled", newUser()).payload
            let began = ContinuousClock.now
            let status = try await post(payload, "N01")
            let isLate = ContinuousClock.now - began > .seconds(5)
            return [accepted("a genuine notification", status, isLate: isLate)]
        }
        try await checkForged("N02", "signed by an own key", skip: reason) {
            good, _ in try good.forged(header: [])
        }
        try await checkForged("N03", "for another app", skip: reason) {
            good, issuer in
            try await good.signed(claims: [("aud", "com.attacker.app")], by: issuer)
        }
        try await checkForged("N04", "alg none", skip: reason) {
            good, _ in good.input(header: [("alg", "none")]) + "."
        }
        try await checkIdentityToken(skip: reason)
        try await checkOthers(skip: reason)
        try await check("N07", nil, skip: reason) {
            var variants: [CheckResult.Variant] = []
            for text in ["garbage", "", "a.b.c", "{}"] {
                let status = try await post(text, "N07")
                variants.append(withoutError("payload '\(text)'", status))
            }
            return variants
        }
        try await check("N08", nil, skip: reason) {
            let payload = try await notification("email-disabled", newUser()).payload
            let statuses = [try await post(payload, "N08"), try await post(payload, "N08")]
            return statuses.map { accepted("the same notification twice", $0, isLate: false) }
        }
        try await checkSpellings(skip: reason)
    }

    /// N05: the identity token of a user who is signed in.
    private func checkIdentityToken(skip: String?) async throws {
        let flow: Flow = file.signIn == nil ? .web : .native
        let isBlind = file.whoami == nil
        try await check("N05", nil, isAdvice: isBlind, skip: skip) {
            let session = try await signIn(flow, newUser(), for: "the good sign-in")
            let status = try await post(session.credentials?.idToken ?? "", "N05")
            if isBlind { return [refused("an identity token", status)] }
            return [try await lives(session, "an identity token", status)]
        }
    }

    /// N06: genuine notifications about somebody else.
    private func checkOthers(skip: String?) async throws {
        let flow: Flow = file.signIn == nil ? .web : .native
        let reason = skip ?? (file.whoami == nil ? "the file has no 'whoami'" : nil)
        try await check("N06", nil, skip: reason) {
            let session = try await signIn(flow, newUser(), for: "the good sign-in")
            let other = try await newUser()
            _ = try await signIn(flow, other, for: "the good sign-in")
            let genuine = try await notification("account-delete", other).payload
            let first = try await lives(
                session, "account-delete of another user", post(genuine, "N06"))
            let good = try GoodSignIn(token: genuine)
            let subject = "000000.0123456789abcdef0123456789abcdef.0000"
            let events =
                good.claims["events"]?.plainText
                .replacingEvery(other.subject, with: subject) ?? ""
            let foreign = try await good.signed(
                claims: [("events", .string(events))], by: apple.issuer())
            let second = try await lives(
                session, "account-delete of a sub of another team", post(foreign, "N06"))
            return [first, second]
        }
    }

    /// N09: the spellings and forms that Apple's documents have.
    private func checkSpellings(skip: String?) async throws {
        let flow: Flow = file.signIn == nil ? .web : .native
        try await check("N09", nil, skip: skip) {
            var variants: [CheckResult.Variant] = []
            for type in ["account-delete", "account-deleted", "consent-revoked"] {
                let user = try await newUser()
                let session = try await signIn(flow, user, for: "the good sign-in")
                let payload = try await notification(type, user).payload
                let answer = accepted(type, try await post(payload, "N09"), isLate: false)
                let isIgnored = try await account(session) != nil
                variants.append(
                    CheckResult.Variant(
                        comment: type,
                        outcome: answer.outcome + (isIgnored ? "; the user stays signed in" : ""),
                        status: answer.status, isWrong: answer.isWrong || isIgnored))
            }
            let good = try GoodSignIn(
                token: try await notification("email-disabled", newUser()).payload)
            let events = try JSON(Array((good.claims["events"]?.plainText ?? "{}").utf8))
            let token = try await good.signed(claims: [("events", events)], by: apple.issuer())
            variants.append(
                accepted("events as an object", try await post(token, "N09"), isLate: false))
            return variants
        }
    }

    /// Whether the user of a session is still signed in, as they must be.
    private func lives(
        _ session: Attempt, _ comment: String, _ status: Int?
    ) async throws -> CheckResult.Variant {
        let lives = try await account(session) != nil
        return CheckResult.Variant(
            comment: comment,
            outcome: lives
                ? "without effect\(status.map { ", \($0)" } ?? "")"
                : "TOOK EFFECT: the user is signed out",
            status: status, isWrong: !lives)
    }

    /// Posts a forged account-delete about a user who is signed in, whose session must live.
    private func checkForged(
        _ id: String, _ comment: String, skip: String?,
        _ make: @escaping @Sendable (GoodSignIn, Issuer) async throws -> String
    ) async throws {
        let flow: Flow = file.signIn == nil ? .web : .native
        let isBlind = file.whoami == nil
        try await check(id, nil, isAdvice: isBlind, skip: skip) {
            let user = try await newUser()
            let session = try await signIn(flow, user, for: "the good sign-in")
            let genuine = try await notification("account-delete", user).payload
            let good = try GoodSignIn(token: genuine, notification: genuine)
            let status = try await post(try await make(good, apple.issuer()), id)
            if isBlind { return [refused("account-delete, \(comment)", status)] }
            return [try await lives(session, "account-delete, \(comment)", status)]
        }
    }

    private func notification(
        _ type: String, _ user: TestUser
    ) async throws -> (payload: String, answer: JSON) {
        let client = file.signIn?.clientID ?? file.web?.clientID ?? ""
        let answer = try await apple.control(
            "notifications",
            ["type": .string(type), "user": .string(user.name), "client_id": .string(client)])
        return (answer["payload"]?.string ?? "", answer)
    }

    /// Posts a notification; returns the status, nil without an answer.
    private func post(_ payload: String, _ label: String) async throws -> Int? {
        guard let step = file.notifications else { return nil }
        try await pace()
        var browser = Browser(file, transport, timeout: options.timeout)
        var values = Values()
        values.known["payload"] = .string(payload)
        let status: Int?
        do {
            if case .none = step.body {
                status = try await browser.visit(
                    step.method, step.path,
                    fields: [HTTPField("Content-Type", "application/json")],
                    body: JSON.object([JSON.Member("payload", .string(payload))]).bytes
                ).response.status
            } else {
                status = try await browser.take(step, &values).response.status
            }
        } catch {
            if error.kind == .timeout {
                manners.slow.append(label)
            } else {
                manners.cut.append(label)
            }
            status = nil
        }
        manners.sent += 1
        manners.note(status, label)
        return status
    }

    private func accepted(
        _ comment: String, _ status: Int?, isLate: Bool
    ) -> CheckResult.Variant {
        let isGood = status.map { (200..<300).contains($0) } ?? false
        return CheckResult.Variant(
            comment: comment,
            outcome: (status.map { "answered with \($0)" } ?? "no answer")
                + (isLate ? " after more than 5 seconds" : ""),
            status: status, isWrong: !isGood || isLate)
    }

    private func refused(_ comment: String, _ status: Int?) -> CheckResult.Variant {
        CheckResult.Variant(
            comment: comment, outcome: status.map { "answered with \($0)" } ?? "no answer",
            status: status, isWrong: status.map { (200..<300).contains($0) } ?? false)
    }

    func withoutError(_ comment: String, _ status: Int?) -> CheckResult.Variant {
        CheckResult.Variant(
            comment: comment, outcome: status.map { "answered with \($0)" } ?? "no answer",
            status: status, isWrong: status.map { $0 >= 500 } ?? true)
    }
}
