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
        _ states: [RevocationJob.State], limit: Int
    ) throws(VaultError) -> RevocationPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.revocations(states, limit)
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
        _ job: RevocationJob, retryAfter delay: Duration?, by owner: String
    ) throws(VaultError) -> Bool {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.note(job, delay, by: owner)
        }
    }
}
