internal import SIWAJOSE
internal import SIWALifecycle

/// What a genuine notification about a user does to the user's session.
enum NotificationEffect: Sendable {
    /// A notification of that type ends the session after some time, and perhaps those of others.
    case endsSession(type: String, after: Duration, andOthers: Bool)
    /// `whoami` shows no difference, so that a forged one without effect proves nothing.
    case none
}

// N: notifications.
extension ConformRun {
    func checkNotifications() async throws {
        let reason: CheckResult.Skip? =
            file.notifications == nil ? .missing("the file has no 'notifications'") : nil
        try await check("N01", nil, skip: reason) {
            let payload = try await notification("email-disabled", newUser())
            let began = ContinuousClock.now
            let status = try await post(payload, "N01")
            let isLate = ContinuousClock.now - began > .seconds(5)
            return [accepted("a genuine notification", status, isLate: isLate)]
        }
        try await checkForged(
            "N02", skip: reason,
            [
                ("signed by an own key", { good, _ in try good.forged() }),
                (
                    "signed by an own key under an invented kid",
                    { good, _ in
                        let kid = try good.bytes(for: "kid").prefix(5).hexadecimal
                        return try good.forged(header: [("kid", .string(kid))])
                    }
                ),
            ])
        try await checkForged(
            "N03", skip: reason,
            [
                (
                    "for another app",
                    { good, issuer in
                        try await good.signed(claims: [("aud", "com.attacker.app")], by: issuer)
                    }
                )
            ])
        try await checkForged(
            "N04", skip: reason,
            [("alg none", { good, _ in good.input(header: [("alg", "none")]) + "." })])
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
            let payload = try await notification("email-disabled", newUser())
            let statuses = [try await post(payload, "N08"), try await post(payload, "N08")]
            return statuses.map { accepted("the same notification twice", $0, isLate: false) }
        }
        try await checkSpellings(skip: reason)
    }

    /// N05: the identity token of a user who is signed in.
    private func checkIdentityToken(skip: CheckResult.Skip?) async throws {
        let effect = try await effect(of: "N05", skip: skip)
        try await check("N05", nil, adviceReason: effect.adviceReason, skip: skip) {
            let session = try await good(mainFlow, newUser())
            let status = try await post(session.credentials?.idToken ?? "", "N05")
            return [try await judge("an identity token", status, session, effect)]
        }
    }

    /// N06: genuine notifications about somebody else.
    private func checkOthers(skip: CheckResult.Skip?) async throws {
        let effect = try await effect(of: "N06", skip: skip)
        let reason: CheckResult.Skip? =
            file.whoami == nil
            ? .missing("the file has no 'whoami'")
            : effect.isHidden
                ? .pointless("no genuine notification has an effect that 'whoami' shows") : nil
        try await check("N06", nil, skip: skip ?? reason) {
            let type = effect.type
            let other = try await newUser()
            _ = try await good(mainFlow, other)
            // The newest session, which a wrong backend may take for the one that is meant.
            let user = try await newUser()
            let session = try await good(mainFlow, user)
            let genuine = try await notification(type, other)
            let first = try await judge(
                "\(type) of another user", post(genuine, "N06"), session, effect)
            let foreign = try await judge(
                "\(type) of a sub of another team, with the user's address",
                post(ofForeignUser(genuine, other, user), "N06"), session, effect)
            return [first, foreign]
        }
    }

    /// A genuine notification whose `sub` only another team knows, with an address of this one.
    private func ofForeignUser(
        _ genuine: String, _ other: TestUser, _ user: TestUser
    ) async throws -> String {
        let good = try GoodSignIn(token: genuine)
        let subject = "000000.0123456789abcdef0123456789abcdef.0000"
        let text = good.claims["events"]?.plainText ?? "{}"
        let events = try JSON(Array(text.replacingEvery(other.subject, with: subject).utf8))
            .changed([("email", .string(user.email))])
        return try await good.signed(
            claims: [("events", .string(events.text))], by: apple.issuer())
    }

    /// N09: the spellings and forms that Apple's documents have.
    private func checkSpellings(skip: CheckResult.Skip?) async throws {
        try await check("N09", nil, skip: skip) {
            var variants: [CheckResult.Variant] = []
            for type in ["account-delete", "account-deleted", "consent-revoked"] {
                let user = try await newUser()
                let session = try await good(mainFlow, user)
                let payload = try await notification(type, user)
                let answer = accepted(type, try await post(payload, "N09"), isLate: false)
                let isIgnored: Bool =
                    if file.whoami == nil { false } else {
                        try await timeToEffect(on: session) == nil
                    }
                variants.append(
                    CheckResult.Variant(
                        comment: type,
                        outcome: answer.outcome + (isIgnored ? "; the user stays signed in" : ""),
                        status: answer.status, isWrong: answer.isWrong || isIgnored))
            }
            let good = try GoodSignIn(
                token: try await notification("email-disabled", newUser()))
            let events = try JSON(Array((good.claims["events"]?.plainText ?? "{}").utf8))
            let token = try await good.signed(claims: [("events", events)], by: apple.issuer())
            variants.append(
                accepted("events as an object", try await post(token, "N09"), isLate: false))
            return variants
        }
    }

    /// Judges a forged notification by its effect on a session, which must live; by the status
    /// where no effect can be seen.
    private func judge(
        _ comment: String, _ status: Int?, _ session: Attempt, _ effect: NotificationEffect
    ) async throws -> CheckResult.Variant {
        guard case .endsSession(let type, let delay, let endsOthers) = effect else {
            return refused(comment, status)
        }
        if status != 429, endsOthers {
            // A genuine one would end this session, too.
            try await Task.sleep(for: delay * 2 + .seconds(3))
        } else if status != 429 {
            try await waitForQueue(type)
        }
        let lives = try await account(session) != nil
        return CheckResult.Variant(
            comment: comment,
            outcome: lives
                ? "without effect\(status.map { ", \($0)" } ?? "")"
                : "TOOK EFFECT: the user is signed out",
            status: status, isWrong: !lives)
    }

    /// Waits until a genuine notification that comes after the forged one has taken effect: many
    /// backends put them into a queue, and answer before they act.
    private func waitForQueue(_ type: String) async throws {
        let user = try await newUser()
        let session = try await good(mainFlow, user)
        _ = try await post(try await notification(type, user), "N01")
        guard let time = try await timeToEffect(on: session, within: .seconds(15)) else {
            throw NotJudged(reason: "a genuine notification after it took no effect in 15 seconds")
        }
        // Several workers need not act in the order of the queue.
        try await Task.sleep(for: min(time, .seconds(1)))
    }

    /// What a genuine notification does, which is found out once.
    ///
    /// - Parameter skip: why it need not be known.
    private func effect(of id: String, skip: CheckResult.Skip?) async throws -> NotificationEffect {
        if let known = notificationEffect { return known }
        guard file.whoami != nil, skip == nil, options.reasonToSkip(id) == nil else {
            return .none
        }
        var found = NotificationEffect.none
        for type in ["account-delete", "consent-revoked"] {
            let user = try await newUser()
            // The newest session is the user's: a backend that ends that one has an effect, too.
            let other = try await signIn(mainFlow, newUser(), for: "the good sign-in")
            let session = try await signIn(mainFlow, user, for: "the good sign-in")
            _ = try await post(try await notification(type, user), "N01")
            guard session.isSignedIn, let delay = try await timeToEffect(on: session) else {
                continue
            }
            found = .endsSession(
                type: type, after: delay, andOthers: try await account(other) == nil)
            break
        }
        notificationEffect = found
        return found
    }

    /// The flow in which the users of these checks sign in.
    private var mainFlow: Flow { file.signIn == nil ? .web : .native }

    /// How long it takes until a user is signed out; nil if nothing happens within the limit.
    private func timeToEffect(
        on session: Attempt, within limit: Duration = .seconds(5)
    ) async throws -> Duration? {
        let began = ContinuousClock.now
        while true {
            if try await account(session) == nil { return ContinuousClock.now - began }
            if ContinuousClock.now - began > limit { return nil }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private typealias Forging = @Sendable (GoodSignIn, Issuer) async throws -> String

    /// Posts forged notifications about a user who is signed in, whose session must live.
    private func checkForged(
        _ id: String, skip: CheckResult.Skip?, _ forgings: [(comment: String, make: Forging)]
    ) async throws {
        let effect = try await effect(of: id, skip: skip)
        try await check(id, nil, adviceReason: effect.adviceReason, skip: skip) {
            var variants: [CheckResult.Variant] = []
            for (comment, make) in forgings {
                let user = try await newUser()
                let session = try await good(mainFlow, user)
                let genuine = try await notification(effect.type, user)
                let good = try GoodSignIn(token: genuine, notification: genuine)
                let kept = manners
                let status = try await post(try await make(good, apple.issuer()), id)
                // Apple sends it again after a 503: right where the key may be a new one.
                if status == 503 { manners = kept.excusing(manners) }
                variants.append(
                    try await judge("\(effect.type), \(comment)", status, session, effect))
            }
            return variants
        }
    }

    /// A genuine notification about a user.
    private func notification(_ type: String, _ user: TestUser) async throws -> String {
        let client = file.signIn?.clientID ?? file.web?.clientID ?? ""
        let answer = try await apple.control(
            "notifications",
            ["type": .string(type), "user": .string(user.name), "client_id": .string(client)])
        return answer["payload"]?.string ?? ""
    }

    /// Posts a notification, once more if the backend limits the rate; returns the status, nil
    /// without an answer.
    private func post(_ payload: String, _ label: String) async throws -> Int? {
        var answer = try await postOnce(payload, label)
        if answer?.status == 429 {
            try await Task.sleep(for: Attempt.wait(askedBy: answer))
            answer = try await postOnce(payload, label)
        }
        return answer?.status
    }

    private func postOnce(_ payload: String, _ label: String) async throws -> HTTPResponse? {
        guard let step = file.notifications else { return nil }
        try await pace()
        var browser = Browser(file, transport, timeout: options.timeout)
        var values = Values()
        values.known["payload"] = .string(payload)
        manners.sent += 1
        do {
            let page =
                if case .none = step.body {
                    try await browser.visit(
                        step.method, step.path,
                        fields: [HTTPField("Content-Type", "application/json")],
                        body: JSON.object([JSON.Member("payload", .string(payload))]).bytes)
                } else {
                    try await browser.take(step, &values)
                }
            manners.note(page.response.status, label)
            return page.response
        } catch {
            if error.kind == .timeout {
                manners.slow.append(label)
            } else {
                manners.cut.append(label)
            }
            return nil
        }
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

extension NotificationEffect {
    /// The type that a forged notification has.
    fileprivate var type: String {
        if case .endsSession(let type, _, _) = self { type } else { "account-delete" }
    }

    /// Whether only the status of an answer tells anything.
    fileprivate var isHidden: Bool { if case .none = self { true } else { false } }

    /// Why a wrong status is no more than advice.
    fileprivate var adviceReason: String? {
        isHidden
            ? "An endpoint may answer 2xx to everything, and 'whoami' shows no effect of a genuine one."
            : nil
    }
}
