internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
internal import SIWAVaultRecords

/// Processes the outbox: attempts every pending revocation until it ends.
final class RevocationWorker: Sendable {
    let access: StoreAccess
    let vault: SharedVault
    let journal: CodeJournal
    let clocks: Clocks
    let owner: String
    let log: ServiceLog
    /// The codes that are being exchanged.
    let codes = ActiveCount()
    /// The clients that are in no profile.
    let missingProfiles = MissingProfiles()
    /// Notified after every attempt.
    let progress = WakeSignal()
    private let clients: @Sendable () -> ProfileClients
    private let events: RevocationEvents
    private let wake = WakeSignal()
    private let loop: WorkLoop

    /// The maximum number of concurrent jobs.
    private static let width = 32

    /// - Parameters:
    ///   - clients: returns the clients of the current settings.
    ///   - events: what happens when a revocation ends whose caller polls it.
    ///   - owner: identifies this run of this process.
    init(
        _ access: StoreAccess, _ vault: SharedVault, _ journal: CodeJournal,
        clients: @escaping @Sendable () -> ProfileClients, events: RevocationEvents = .off,
        clocks: Clocks, owner: String, log: @escaping ServiceLog
    ) {
        (self.access, self.vault, self.journal) = (access, vault, journal)
        self.events = events
        (self.clients, self.clocks, self.owner, self.log) = (clients, clocks, owner, log)
        loop = WorkLoop(limit: Self.width, pause: .seconds(1), wake: wake)
    }

    /// Processes due jobs until the task is cancelled.
    func run() async {
        await resume()
        await loop.run(
            claim: { await self.claim(nil, $0) }, work: { await self.carryOut($0.job, $0.age) })
    }

    /// Makes the jobs due that waited for a profile which exists now.
    func resume() async {
        let clients = clients().clientIDs
        do throws(StoreError) {
            let waiting = try await access.run { store throws(StoreError) in
                try store.resumeRevocations(of: clients)
            }
            for client in waiting { missingProfiles.note(client) }
        } catch {
            log(.databaseFailed(error))
        }
        wake.notify()
    }

    /// Forgets clients whose revocations have ended without a profile: their users were erased.
    func reviewMissingProfiles() async {
        guard missingProfiles.isUsed else { return }
        let waiting = try? await access.run { store throws(StoreError) in
            try store.clientsWithoutProfile()
        }
        if let waiting { missingProfiles.keep(waiting) }
    }

    /// Processes the jobs of one request in the background.
    func start(_ id: String) {
        loop.start {
            await withTaskGroup { group in
                for (job, age) in await self.claim(id, Self.width) {
                    group.addTask { await self.carryOut(job, age) }
                }
            }
        }
    }

    /// Waits for the attempts in progress.
    func drain() async {
        await loop.drain()
        await journal.drain()
    }

    /// Waits until the codes that were sent to Apple are answered.
    func drainSent() async { await codes.drain() }

    private var lease: Lease { Lease(owner: owner, duration: leaseDuration) }

    private func claim(
        _ id: String?, _ limit: Int
    ) async -> [(job: RevocationJob, age: Duration)] {
        let lease = lease
        do throws(StoreError) {
            let due = try await access.run { store throws(StoreError) in
                try store.claimRevocations(of: id, limit: limit, for: lease)
            }
            for error in due.damaged { log(.damagedRow(error)) }
            return due.jobs
        } catch {
            log(.databaseFailed(error))
            return []
        }
    }

    private func carryOut(_ job: RevocationJob, _ age: Duration) async {
        let (lease, access) = (lease, access)
        let renew: @Sendable () async -> Void = {
            _ = try? await access.run { store throws(StoreError) in
                try store.renewRevocations([job.number], for: lease)
            }
        }
        await renewing(by: clocks.timekeeper, renew) { await self.attempt(job, age) }
        progress.notify()
    }

    private func attempt(_ job: RevocationJob, _ age: Duration) async {
        guard let client = clients()[job.clientID] else {
            await fail(job, age, .withoutProfile(job.clientID))
            missingProfiles.note(job.clientID)
            // The profiles may have been reloaded in the meantime.
            if clients()[job.clientID] != nil { await resume() }
            return
        }
        var attempt = RevocationAttempt(job, age: age, for: client, by: self)
        do throws(RevocationAttempt.Interruption) {
            do throws(RevocationAttempt.Interruption) {
                try await attempt.carryOut()
            } catch .failed(let diagnosis) {
                try await attempt.fail(diagnosis)
                log(failure: diagnosis, attempt.job)
            } catch .codeInUse {
                try await attempt.wait()
            }
        } catch {
            // Another process has leased the job, the lease of this process has expired, or
            // another job has the token.
        }
        if attempt.job.state != .pending { log(end: attempt.job) }
    }

    /// Notes a failed attempt that sent nothing.
    private func fail(_ job: RevocationJob, _ age: Duration, _ diagnosis: Diagnosis) async {
        var job = job
        let delay = job.fail(diagnosis, age: age, at: clocks.now())
        log(failure: diagnosis, job)
        if (try? await note(job, after: delay)) != nil, job.state != .pending { log(end: job) }
    }

    private func log(failure: Diagnosis, _ job: RevocationJob) {
        log(
            ServiceEvent(
                failure.exitCode == .clientRefused ? .error : .warning, "revocation_failed",
                [
                    .init("code", .string(failure.code)),
                    .init("reason", .string(failure.message)),
                    .init("attempts", .integer(job.attempts)),
                ], about: job.subject(failure.requestID), naming: failure.userID))
    }

    private func log(end job: RevocationJob) {
        let level: ServiceEvent.Level =
            switch job.state {
            case .pending, .revoked: .info
            // Apple refused the caller's code, or did not answer: there is nothing to repair.
            case .unknown: .warning
            case .dead: .error
            }
        log(
            ServiceEvent(
                level, "revocation_ended",
                [.init("state", .string(job.state.rawValue))], about: job.subject()))
    }
}

// Writing jobs.
extension RevocationWorker {
    /// Stores a claimed job.
    ///
    /// - Parameter delay: the time until the next attempt; nil to keep the lease.
    func note(
        _ job: RevocationJob, after delay: Duration?
    ) async throws(RevocationAttempt.Interruption) {
        let (owner, events) = (owner, events)
        let isHeld: Bool
        do throws(StoreError) {
            isHeld = try await access.run { store throws(StoreError) in
                try store.note(job, retryAfter: delay, by: owner, events: events)
            }
        } catch {
            log(.databaseFailed(error))
            throw .lost
        }
        guard isHeld else { throw .lost }
    }

    /// Stores the token that a job's code was exchanged for: no other copy exists.
    ///
    /// - Returns: whether the job is leased and has the token. If not, it is stored as soon as the
    ///   database works, and any process continues.
    func keepToken(_ job: RevocationJob) async -> Bool {
        if (try? await note(job, after: nil)) != nil { return true }
        let (owner, requestedAt) = (owner, clocks.now())
        let id = (try? Random.bytes(16).hexadecimal) ?? job.fingerprint.rawValue
        _ = await journal.writes.write(
            "token_not_noted", losing: .revocable(job.subject())
        ) { store throws(StoreError) in
            guard try !store.note(job, retryAfter: .zero, by: owner) else { return }
            // The job has ended, or another process has it, without the token.
            guard try store.revocation(id) == nil else { return }
            _ = try store.add(
                RevocationRequest(
                    id: id, clientID: job.clientID, userID: job.userID, requestedAt: requestedAt),
                [job])
        }
        return false
    }
}

extension RevocationJob {
    fileprivate func subject(_ requestID: String? = nil) -> LogSubject {
        LogSubject(
            clientID: clientID, userID: userID, fingerprint: fingerprint.rawValue,
            requestID: requestID)
    }
}
