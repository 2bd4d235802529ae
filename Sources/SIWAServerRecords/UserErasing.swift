internal import SIWADatabases
internal import SIWALifecycle
internal import SIWAVaultRecords

// Erasing what is stored about a user, within a writing transaction. Rows are locked in the order in
// which notifications lock them: tokens, the position of the inbox, then requests and jobs.
extension Database {
    /// Erases a user under all ids that the user has had. Nothing is changed unless the result is
    /// `erased`.
    func erase(
        _ userID: UserID, evenIfLive: Bool, _ events: RevocationEvents,
        _ counts: inout CountChanges
    ) throws(DatabaseFailure) -> UserErasure {
        let ids = try allIDs(of: userID, nil).compactMap(\.text).sorted()
        let clients = try clients()
        let users = clients.flatMap { client in
            ids.compactMap { try? VaultUser(client, validating: $0) }
        }
        let page = try records(of: .users(users), isLocking: true)
        try lockPosition()
        var pending: [Int: String?] = [:]
        for id in ids { try pending.merge(pendingJobs(of: .text(id))) { first, _ in first } }
        guard pending.values.allSatisfy({ $0 == RevocationJob.clientWithoutProfile }) else {
            return .revocationPending
        }
        // The states of damaged rows are unknown.
        let mayWork =
            !pending.isEmpty || !page.damaged.isEmpty
            || page.records.contains { $0.state == .active || $0.state == .revoking }
        guard evenIfLive || !mayWork else { return .tokenMayWork }
        let rows = page.records.map { VaultRowKey($0.id) } + page.damaged.map(\.key)
        try write(VaultChanges(removals: rows), releasing: nil)
        for id in ids {
            try eraseHistory(ofUserID: .text(id))
            _ = try forget(.text(id), &counts)
            try forgetOwnEvents(of: .text(id))
        }
        try eraseRevocations(
            of: ids.map { .text($0) }, ending: pending.keys.sorted(), events, &counts)
        return .erased
    }

    /// Erases the user from the ends of revocations. Apple's events keep it, as proof that they were
    /// received.
    private func forgetOwnEvents(of user: Value) throws(DatabaseFailure) {
        for type in EventType.own {
            _ = try run(
                "UPDATE inbox_event SET user_id = $1 WHERE user_id = $2 AND type = $3",
                .text(InboxEvent.unknownUser.rawValue), user, .text(type.rawValue))
        }
    }

    /// The pending jobs of a user, with the codes of their last errors.
    private func pendingJobs(of user: Value) throws(DatabaseFailure) -> [Int: String?] {
        var jobs: [Int: String?] = [:]
        for condition in [
            "user_id = $1",
            """
            id IN (SELECT job FROM revocation_part WHERE revocation IN (
                SELECT id FROM revocation WHERE user_id = $1 AND state = 'pending'))
            """,
        ] {
            let sql = """
                SELECT id, last_error_code FROM revocation_job WHERE \(condition) AND state = 'pending'
                \(dialect.lockingRows)
                """
            for row in try run(sql, user) {
                guard let number = row[0].integer else { continue }
                jobs.updateValue(row[1].text, forKey: number)
            }
        }
        return jobs
    }

    /// Erases the user from jobs and requests, and ends jobs whose tokens are erased.
    private func eraseRevocations(
        of users: [Value], ending jobs: [Int], _ events: RevocationEvents,
        _ counts: inout CountChanges
    ) throws(DatabaseFailure) {
        _ = try run(
            """
            UPDATE revocation_job SET state = 'dead', ended_at = \(dialect.now), due_at = NULL,
                lease_owner = NULL, key_number = NULL, sealed = NULL
            WHERE id = $1
            """, each: jobs.map { [.integer($0)] })
        for user in users {
            _ = try run(
                """
                UPDATE revocation_job SET user_id = NULL, key_number = NULL, sealed = NULL
                WHERE user_id = $1
                """, user)
            _ = try run("UPDATE revocation SET user_id = NULL WHERE user_id = $1", user)
        }
        var requests: Set<Value> = []
        for job in jobs { requests.formUnion(try self.requests(ofJob: job)) }
        let inOrder = requests.sorted { ($0.integer ?? 0) < ($1.integer ?? 0) }
        try settle(inOrder, events, &counts)
    }
}
