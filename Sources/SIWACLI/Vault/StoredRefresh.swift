internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// `siwa refresh --user`: refreshes tokens of the vault, and notes the answers in it.
struct StoredRefresh: Sendable {
    let tokens: StoredTokens
    let requests: Requests

    private var session: Session { requests.session }

    /// Prints the requests for a dry run.
    func dryRun(isAll: Bool) async throws {
        let records = try isAll ? active() : [newest()]
        try await requests.dryRun(try records.map { .refresh(try tokens.vault.token(of: $0)) })
    }

    /// Refreshes the newest token, and prints Apple's answer.
    func refreshNewest() async throws {
        let record = try newest()
        let (answer, noted) = try await refresh(record)
        try session.report(
            Report(
                .object(
                    answer.refreshMembers(of: tokens.user.userID, at: session.world.clocks.now())
                        + tokens.otherClientsMember),
                of: .refresh))
        try noted.get()
        try tokens.checkDamaged("a token that can be read was refreshed")
    }

    /// Refreshes every active token, and prints all answers and failures.
    func refreshAll() async throws {
        let records = try active()
        var (results, failures): ([JSON], [Diagnosis]) = ([], [])
        for record in records {
            var members = [record.fingerprintMember]
            do {
                guard session.world.ending.signal == nil else { throw Diagnosis.notTried }
                let (answer, noted) = try await refresh(record)
                members += self.members(answer)
                try noted.get()
            } catch {
                let diagnosis = Diagnosis(error)
                failures.append(diagnosis)
                members.append(diagnosis.member)
            }
            results.append(.object(members))
        }
        try session.report(
            Report(
                .object(
                    userMember + [.init("tokens", .array(results))] + tokens.otherClientsMember),
                of: .refresh))
        guard failures.isEmpty else {
            throw Diagnosis.partial(
                failures, of: records.count, "refreshed", exitCode: Self.exitCode(of: failures))
        }
        try tokens.checkDamaged("the tokens that can be read were refreshed")
    }

    /// The exit code for several failures: if one refresh failed temporarily, the run should be
    /// repeated, even if Apple refused the others.
    static func exitCode(of failures: [Diagnosis]) -> ExitCode {
        let codes = failures.map(\.exitCode)
        let isTemporary = codes.contains(.temporary)
        return .prevailing(among: codes.filter { !isTemporary || $0 != .grantRefused })
    }

    /// Refreshes one token, and notes the answer in the vault.
    ///
    /// - Returns: the answer, which is valid even if noting it failed.
    private func refresh(
        _ record: VaultRecord
    ) async throws -> (answer: TokenResponse, noted: Result<Void, any Error>) {
        let token = try tokens.vault.token(of: record)
        let answer: TokenResponse
        do {
            answer = try await requests.perform { tokens throws(TokenFailure) in
                try await tokens.refresh(token)
            }
        } catch {
            if case .refused(let refusal) = error.failure.cause {
                try tokens.note(NotedEvent(refresh: .refused(refusal)), of: record)
            }
            throw error
        }
        let noted = NotedEvent(refresh: .done(answer))
        return (answer, Result { try tokens.note(noted, of: record) })
    }

    private func newest() throws -> VaultRecord {
        guard let newest = tokens.records.newest else {
            try tokens.checkDamaged("no other token of this user is stored")
            throw Diagnosis.noRecord(of: tokens.user, tokens.otherClients)
        }
        return newest
    }

    private func active() throws -> [VaultRecord] {
        let active = tokens.records.filter { $0.state == .active }
        guard !active.isEmpty else {
            try tokens.checkDamaged("no other token of this user is active")
            throw Diagnosis.negative(
                .noActiveToken,
                "the vault has no active token of '\(tokens.user.userID)' of "
                    + "\(tokens.user.clientID)",
                hints: ["'siwa refresh --user' without --all asks about the newest token"])
        }
        return active
    }

    /// Apple's answer without the user, which is a member of the whole result.
    private func members(_ answer: TokenResponse) -> [JSON.Member] {
        answer.members(
            at: session.world.clocks.now(), reserving: ["user_id", "other_clients"])
    }

    private var userMember: [JSON.Member] {
        [.init("user_id", .string(tokens.user.userID.rawValue))]
    }
}

extension Deed {
    /// Apple accepted refresh tokens.
    static let refresh = Deed(
        "Apple accepted the refresh token",
        hint: "fix standard output, then run it again for an access token")
}
