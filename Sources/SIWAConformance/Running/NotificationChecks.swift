internal import SIWAJOSE
internal import SIWALifecycle

// N: notifications. D: deletion. X: manners.
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
        let isBlind = reason ?? (file.signIn == nil ? "the file has no 'sign_in'" : nil)
        try await check("N05", nil, isAdvice: true, skip: isBlind) {
            let client = file.signIn?.clientID ?? ""
            let token = try await issue(client, newUser(), nonce: nil).idToken
            return [refused("an identity token", try await post(token, "N05"))]
        }
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
            let lives = try await account(session) != nil
            return [
                CheckResult.Variant(
                    comment: "account-delete, \(comment)",
                    outcome: lives
                        ? "without effect\(status.map { ", \($0)" } ?? "")"
                        : "TOOK EFFECT: the user is signed out",
                    status: status, isWrong: !lives)
            ]
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

    private func withoutError(_ comment: String, _ status: Int?) -> CheckResult.Variant {
        CheckResult.Variant(
            comment: comment, outcome: status.map { "answered with \($0)" } ?? "no answer",
            status: status, isWrong: status.map { $0 >= 500 } ?? true)
    }
}

extension ConformRun {
    func checkDeletion() async throws {
        let flow: Flow = file.signIn == nil ? .web : .native
        guard let deletion = file.deletion else {
            for id in ["D01", "D04", "D05"] {
                try await check(id, nil, skip: "the file has no 'delete'") { [] }
            }
            return
        }
        let user = try await newUser()
        let session = try await signIn(flow, user, for: "the good sign-in")
        var (browser, values) = (session.browser, session.values)
        try await check("D01", nil) {
            _ = try await delete(deletion, user, flow, &browser, &values)
            let isRevoked = try await isRevoked(user, within: deletion.revokesWithin)
            return [
                CheckResult.Variant(
                    comment: "an account is deleted",
                    outcome: isRevoked
                        ? "the token is revoked" : "Apple was not asked to revoke a working token",
                    status: nil, isWrong: !isRevoked)
            ]
        }
        try await check("D04", nil) {
            let status = try await delete(deletion, user, flow, &browser, &values)
            return [withoutError("the account is deleted again", status)]
        }
        try await check("D05", nil) {
            let again = try await signIn(flow, user, for: "D05")
            return [
                CheckResult.Variant(
                    comment: "the user signs in again", outcome: again.outcome,
                    status: again.status, isWrong: !again.isSignedIn)
            ]
        }
    }

    private func delete(
        _ deletion: ConformFile.Deletion, _ user: TestUser, _ flow: Flow,
        _ browser: inout Browser, _ values: inout Values
    ) async throws -> Int? {
        if deletion.steps.contains(where: \.usesCredential), let rules = file.signIn {
            let fresh = try await issue(rules.clientID, user, nonce: nil)
            values.known["code"] = .string(fresh.code)
            values.known["id_token"] = .string(fresh.idToken)
        }
        var status: Int?
        do {
            for step in deletion.steps {
                try await pace()
                status = try await browser.take(step, &values).response.status
            }
        } catch let error as TransportError {
            _ = error
            return nil
        }
        manners.note(status, "the deletion")
        return status
    }

    private func isRevoked(_ user: TestUser, within limit: Duration) async throws -> Bool {
        let end = ContinuousClock.now + limit
        while true {
            if try await apple.isSignedOut(user.name) == true { return true }
            if ContinuousClock.now >= end { return false }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    func checkManners() async throws {
        let all = [
            ("X01", manners.errors, "no answer was a 5xx"),
            ("X02", manners.slow, "every answer came in time"),
            ("X03", manners.cut, "every request was answered"),
        ]
        for (id, found, none) in all {
            try await check(id, nil) {
                [
                    CheckResult.Variant(
                        comment: "\(manners.sent) requests",
                        outcome: found.isEmpty ? none : found.prefix(3).joined(separator: ", "),
                        status: nil, isWrong: !found.isEmpty)
                ]
            }
        }
    }
}
