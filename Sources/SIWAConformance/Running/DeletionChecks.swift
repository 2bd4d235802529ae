internal import SIWAJOSE
internal import SIWALifecycle

// D: the deletion of accounts that this run made.
extension ConformRun {
    private static let ids = ["D01", "D02", "D03", "D04", "D05"]

    /// An account that is being deleted.
    private struct Leaving {
        let user: TestUser
        var session: Attempt
        /// The status of the deletion.
        var status: Int?
    }

    func checkDeletion() async throws {
        let main: Flow = file.signIn == nil ? .web : .native
        let reason: CheckResult.Skip? =
            file.deletion == nil
            ? .missing("the file has no 'delete'")
            : exchanges[main] == true ? nil : .pointless("the good sign-in exchanges no code")
        guard let deletion = file.deletion, reason == nil else {
            for id in Self.ids { try await check(id, nil, skip: reason) { [] } }
            return
        }
        try await checkRevocations(deletion, main)
        try await checkRetries(deletion, main)
        if flows.count > 1, exchanges[.web] == true { try await checkOtherFlow(deletion) }
    }

    /// D01, D02, D04, D05: both accounts are deleted before anything is waited for.
    private func checkRevocations(_ deletion: ConformFile.Deletion, _ flow: Flow) async throws {
        let ids = Self.ids.filter { $0 != "D03" }
        var (one, two): (Leaving, Leaving)
        do {
            (one, two) = (try await enter(flow), try await enter(flow))
            two.session = try await good(flow, two.user)
            for wish in [
                try await delete(deletion, &one, flow), try await delete(deletion, &two, flow),
            ]
            where !wish {
                throw NotJudged(reason: Self.kept(one.status))
            }
        } catch let doubt as NotJudged {
            for id in ids { try await check(id, nil) { throw doubt } }
            return
        }
        try await check("D01", nil) { [try await revocation(deletion, one)] }
        try await check("D02", nil) {
            let count = try await revoked(two.user, 2, within: deletion.revokesWithin)
            return [Self.variant("an account with two sign-ins is deleted", count, of: 2)]
        }
        try await check("D04", nil) {
            _ = try await delete(deletion, &one, flow)
            return [withoutError("the account is deleted again", one.status)]
        }
        try await check("D05", nil) {
            let again = try await signIn(flow, one.user, for: "D05")
            return [
                CheckResult.Variant(
                    comment: "the user signs in again", outcome: again.outcome,
                    status: again.status, isWrong: !again.isSignedIn)
            ]
        }
    }

    /// D01 once more, for an account of the website, whose tokens belong to another client.
    private func checkOtherFlow(_ deletion: ConformFile.Deletion) async throws {
        try await check("D01", .web) {
            var leaving = try await enter(.web)
            guard try await delete(deletion, &leaving, .web) else {
                return [
                    .notSent(
                        "an account of the website",
                        NotPossible(
                            Self.kept(leaving.status) + ": 'delete' may need what 'sign_in' saves"))
                ]
            }
            return [try await revocation(deletion, leaving)]
        }
    }

    private func revocation(
        _ deletion: ConformFile.Deletion, _ leaving: Leaving
    ) async throws -> CheckResult.Variant {
        let count = try await revoked(leaving.user, 1, within: deletion.revokesWithin)
        return Self.variant("an account is deleted", count, of: 1)
    }

    private static func kept(_ status: Int?) -> String {
        "the deletion was answered with \(status.map(String.init) ?? "nothing"), and the session lives"
    }

    /// D03: Apple answers the first three revocations with 503.
    private func checkRetries(_ deletion: ConformFile.Deletion, _ flow: Flow) async throws {
        try await check("D03", nil) {
            guard let limit = deletion.retriesWithin else {
                throw NotJudged(reason: "the file has no 'retries_within'")
            }
            var leaving = try await enter(flow)
            _ = try await apple.control(
                "faults", ["endpoint": "/auth/revoke", "status": 503, "count": 3])
            let kept = manners
            let isGone = try await delete(deletion, &leaving, flow)
            manners = kept.excusing(manners)
            guard isGone || (leaving.status ?? 500) >= 500 else {
                _ = try await apple.control("faults/clear")
                throw NotJudged(reason: Self.kept(leaving.status))
            }
            let count = try await revoked(leaving.user, 1, within: limit)
            _ = try await apple.control("faults/clear")
            return [
                Self.variant("the first three revocations are answered with 503", count, of: 1)
            ]
        }
    }

    private static func variant(
        _ comment: String, _ count: Int, of all: Int
    ) -> CheckResult.Variant {
        let outcome =
            switch count {
            case 0: "Apple was not asked to revoke a working token"
            case ..<all: "\(count) of \(all) tokens is revoked"
            default: all == 1 ? "the token is revoked" : "all \(all) tokens are revoked"
            }
        return CheckResult.Variant(
            comment: comment, outcome: outcome, status: nil, isWrong: count < all)
    }

    private func enter(_ flow: Flow) async throws -> Leaving {
        let user = try await newUser()
        return Leaving(user: user, session: try await good(flow, user))
    }

    /// Deletes an account; returns whether that was accepted, or ended the session.
    private func delete(
        _ deletion: ConformFile.Deletion, _ leaving: inout Leaving, _ flow: Flow
    ) async throws -> Bool {
        let client = flow == .native ? file.signIn?.clientID : file.web?.clientID
        if deletion.steps.contains(where: \.usesCredential), let client {
            let fresh = try await issue(
                client, leaving.user, nonce: nil, others: redirect(client))
            leaving.session.values.known["code"] = .string(fresh.code)
            leaving.session.values.known["id_token"] = .string(fresh.idToken)
        }
        leaving.status = nil
        for step in deletion.steps {
            try await pace()
            do {
                let page = try await leaving.session.browser.take(step, &leaving.session.values)
                leaving.status = page.response.status
                manners.note(page.response.status, "the deletion")
            } catch {
                leaving.status = nil
                break
            }
        }
        if let status = leaving.status, (200..<400).contains(status) { return true }
        guard file.whoami != nil else { return false }
        return try await account(leaving.session) == nil
    }

    /// How many sessions of a user are revoked: waits until there are `enough`.
    private func revoked(
        _ user: TestUser, _ enough: Int, within limit: Duration
    ) async throws -> Int {
        let end = ContinuousClock.now + limit
        while true {
            let count = try await apple.revokedSessions(of: user.name)
            if count >= enough || ContinuousClock.now >= end { return count }
            try await Task.sleep(for: .milliseconds(200))
        }
    }
}
