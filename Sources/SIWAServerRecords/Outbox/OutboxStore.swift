internal import SIWADatabases
package import SIWALifecycle
package import SIWAVaultRecords

// The outbox.
extension ServerStore {
    /// Stores a request to revoke. It shares pending jobs of the same tokens. A job that waits for a
    /// profile (``RevocationJob/waitsForProfile``) also shares the token's last job if that is dead
    /// for this reason.
    ///
    /// - Parameter jobs: their numbers are ignored.
    package func add(
        _ request: RevocationRequest, _ jobs: [RevocationJob]
    ) throws(StoreError) -> RevocationStatus {
        try counting { database, counts throws(DatabaseFailure) in
            try database.add(request, jobs, &counts)
            guard let status = try database.revocation(request.id) else {
                throw DatabaseFailure(.damaged, "the outbox did not keep a request")
            }
            return status
        }
    }

    /// Returns a request by its id; nil if it does not exist.
    package func revocation(_ id: String) throws(StoreError) -> RevocationStatus? {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.revocation(id)
        }
    }

    /// Returns up to `limit` requests, the newest first.
    ///
    /// - Parameter number: only requests before the one with this number.
    package func revocations(
        _ filter: RevocationFilter, before number: Int?, limit: Int
    ) throws(StoreError) -> RevocationPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.revocations(filter, before: number, limit)
        }
    }

    /// Notes that the caller of a pending request was told to poll it, so that its end becomes an
    /// event.
    ///
    /// - Returns: the current state of the request; nil if it does not exist.
    package func promise(revocation id: String) throws(StoreError) -> RevocationStatus? {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.promise(id)
            return try database.revocation(id)
        }
    }

    /// Makes the pending jobs of these clients due that waited for a profile.
    ///
    /// - Returns: the other clients whose jobs wait for one.
    package func resumeRevocations(of clients: [ClientID]) throws(StoreError) -> [ClientID] {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.resumeRevocations(of: clients)
            return try database.clientsWithoutProfile()
        }
    }

    /// The clients whose pending jobs wait for a profile.
    package func clientsWithoutProfile() throws(StoreError) -> [ClientID] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.clientsWithoutProfile()
        }
    }

    /// Makes the jobs of a request due now: pending ones, and dead ones with zero attempts.
    ///
    /// - Returns: nil if the request does not exist.
    package func retry(revocation id: String) throws(StoreError) -> RevocationStatus? {
        try counting { database, counts throws(DatabaseFailure) in
            try database.retry(id, &counts)
            return try database.revocation(id)
        }
    }

    /// Claims up to `limit` due jobs.
    ///
    /// - Parameter id: only jobs of this request.
    package func claimRevocations(
        of id: String?, limit: Int, for lease: Lease
    ) throws(StoreError) -> DueRevocations {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.claimRevocations(of: id, limit, lease)
        }
    }

    /// Extends leases; returns the jobs that the owner still holds.
    package func renewRevocations(
        _ numbers: [Int], for lease: Lease
    ) throws(StoreError) -> Set<Int> {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.renewRevocations(numbers, lease)
        }
    }

    /// Stores the current state of a claimed job. If its code was exchanged for the token of
    /// another pending job, its requests wait for that job from then on.
    ///
    /// - Parameters:
    ///   - delay: the time until the next attempt; nil to keep the lease.
    ///   - events: what happens to the events of the requests that end.
    /// - Returns: whether the owner still holds the job; if not, it was not changed.
    package func note(
        _ job: RevocationJob, retryAfter delay: Duration?, by owner: String,
        events: RevocationEvents
    ) throws(StoreError) -> Bool {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.note(job, delay, by: owner, events)
        }
    }

    /// Erases what is stored about a user, under all ids that the user has had: tokens, history,
    /// the contents of events, and the user id of ended revocations.
    ///
    /// - Parameters:
    ///   - evenIfLive: whether tokens that may still work are erased, too.
    ///   - answers: the codes whose stored answers are about the user.
    ///   - events: what happens to the events of revocations that end because of it.
    /// - Returns: whether the user was erased, or why not; then nothing was changed.
    package func erase(
        _ userID: UserID, evenIfLive: Bool, answers: [CodeDigest], events: RevocationEvents
    ) throws(StoreError) -> UserErasure {
        try counting { database, counts throws(DatabaseFailure) in
            let outcome = try database.erase(userID, evenIfLive: evenIfLive, events, &counts)
            if outcome == .erased { try database.eraseAnswers(to: answers) }
            return outcome
        }
    }
}
