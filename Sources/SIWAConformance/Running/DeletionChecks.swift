internal import SIWAJOSE
internal import SIWALifecycle

// D: the deletion of accounts that this run made.
extension ConformRun {
    private static let ids = ["D01", "D02", "D03", "D04", "D05"]

    /// An account that is being deleted.
    private struct Leaving {
        let user: TestUser
        var browser: Browser
        var values: Values
    }

    func checkDeletion() async throws {
        let flow: Flow = file.signIn == nil ? .web : .native
        let reason =
            file.deletion == nil
            ? "the file has no 'delete'"
            : exchanges[flow] == true ? nil : "the good sign-in exchanges no code"
        guard let deletion = file.deletion, reason == nil else {
            for id in Self.ids { try await check(id, nil, skip: reason) { [] } }
            return
        }
        try await checkRevocations(deletion, flow)
        try await checkRetries(deletion, flow)
    }

    /// D01, D02, D04, D05: both accounts are deleted before anything is waited for.
    private func checkRevocations(_ deletion: ConformFile.Deletion, _ flow: Flow) async throws {
        var one = try await enter(flow)
        var two = try await enter(flow)
        let again = try await signIn(flow, two.user, for: "the good sign-in")
        (two.browser, two.values) = (again.browser, again.values)
        _ = try await delete(deletion, &one, flow)
        _ = try await delete(deletion, &two, flow)
        try await check("D01", nil) {
            let count = try await revoked(one.user, 1, within: deletion.revokesWithin)
            return [Self.variant("an account is deleted", count, of: 1)]
        }
        try await check("D02", nil) {
            let count = try await revoked(two.user, 2, within: deletion.revokesWithin)
            return [Self.variant("an account with two sign-ins is deleted", count, of: 2)]
        }
        try await check("D04", nil) {
            let status = try await delete(deletion, &one, flow)
            return [withoutError("the account is deleted again", status)]
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

    /// D03: Apple answers the first three revocations with 503.
    private func checkRetries(_ deletion: ConformFile.Deletion, _ flow: Flow) async throws {
        try await check("D03", nil) {
            let comment = "the first three revocations are answered with 503"
            guard let limit = deletion.retriesWithin else {
                return [
                    CheckResult.Variant(
                        comment: comment, outcome: "the file has no 'retries_within'", status: nil,
                        isWrong: false, isOpen: true)
                ]
            }
            var leaving = try await enter(flow)
            _ = try await apple.control(
                "faults", ["endpoint": "/auth/revoke", "status": 503, "count": 3])
            let kept = manners
            _ = try await delete(deletion, &leaving, flow)
            manners = kept.excusing(manners)
            let count = try await revoked(leaving.user, 1, within: limit)
            _ = try await apple.control("faults/clear")
            return [Self.variant(comment, count, of: 1)]
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
        let session = try await signIn(flow, user, for: "the good sign-in")
        return Leaving(user: user, browser: session.browser, values: session.values)
    }

    private func delete(
        _ deletion: ConformFile.Deletion, _ leaving: inout Leaving, _ flow: Flow
    ) async throws -> Int? {
        if deletion.steps.contains(where: \.usesCredential), let rules = file.signIn {
            let fresh = try await issue(rules.clientID, leaving.user, nonce: nil)
            leaving.values.known["code"] = .string(fresh.code)
            leaving.values.known["id_token"] = .string(fresh.idToken)
        }
        var status: Int?
        for step in deletion.steps {
            try await pace()
            do {
                status = try await leaving.browser.take(step, &leaving.values).response.status
            } catch {
                return nil
            }
        }
        manners.note(status, "the deletion")
        return status
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
