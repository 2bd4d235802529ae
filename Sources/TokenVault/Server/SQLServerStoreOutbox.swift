internal import Lifecycle
internal import ServerRecords

// The outbox.
extension SQLServerStore {
    func add(
        _ request: RevocationRequest, _ jobs: [RevocationJob]
    ) throws(VaultError) -> RevocationStatus {
        try counting { database, counts throws(DatabaseFailure) in
            try database.add(request, jobs, &counts)
            guard let status = try database.revocation(request.id) else {
                throw DatabaseFailure(.damaged, "the outbox did not keep a request")
            }
            return status
        }
    }

    func revocation(_ id: String) throws(VaultError) -> RevocationStatus? {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.revocation(id)
        }
    }

    func revocations(
        _ filter: RevocationFilter, before number: Int?, limit: Int
    ) throws(VaultError) -> RevocationPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.revocations(filter, before: number, limit)
        }
    }

    func promise(revocation id: String) throws(VaultError) -> RevocationStatus? {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.promise(id)
            return try database.revocation(id)
        }
    }

    func resumeRevocations(of clients: [ClientID]) throws(VaultError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.resumeRevocations(of: clients)
        }
    }

    func retry(revocation id: String) throws(VaultError) -> RevocationStatus? {
        try counting { database, counts throws(DatabaseFailure) in
            try database.retry(id, &counts)
            return try database.revocation(id)
        }
    }

    func claimRevocations(
        of id: String?, limit: Int, for lease: VaultLease
    ) throws(VaultError) -> DueRevocations {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.claimRevocations(of: id, limit, lease)
        }
    }

    func renewRevocations(
        _ numbers: [Int], for lease: VaultLease
    ) throws(VaultError) -> Set<Int> {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.renewRevocations(numbers, lease)
        }
    }

    func note(
        _ job: RevocationJob, retryAfter delay: Duration?, by owner: String,
        events: RevocationEvents
    ) throws(VaultError) -> Bool {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.note(job, delay, by: owner, events)
        }
    }

    func erase(
        _ userID: UserID, evenIfLive: Bool, answers: [CodeDigest], events: RevocationEvents
    ) throws(VaultError) -> UserErasure {
        try counting { database, counts throws(DatabaseFailure) in
            let outcome = try database.erase(userID, evenIfLive: evenIfLive, events, &counts)
            if outcome == .erased { try database.eraseAnswers(to: answers) }
            return outcome
        }
    }
}
