internal import JOSE
internal import Lifecycle
internal import ServerRecords

/// Receives notifications: nothing is acknowledged that is not on disk.
final class NotificationReceiver: Sendable {
    private let clients: Reloadable<ProfileClients>
    private let judge: Reloadable<NotificationJudge>
    private let keys: AppleKeySets
    private let access: StoreAccess
    private let commits: GroupCommit
    private let metrics: Metrics
    private let clocks: Clocks
    private let log: ServerLog
    private let isDelivering: Bool
    /// Notified when an event was received that is to be delivered.
    let arrival = WakeSignal()

    /// How a notification is answered.
    struct Answer: Sendable {
        /// The status code.
        let status: Int
        /// What became of it, for the metrics and the log.
        let result: String
        /// What it is about, once it is known to be Apple's.
        var event: InboxEvent?

        init(_ status: Int, _ result: String, _ event: InboxEvent? = nil) {
            (self.status, self.result, self.event) = (status, result, event)
        }
    }

    init(_ parts: ServerContext.Parts) {
        (clients, keys, access) = (parts.clients, parts.keys, parts.receivingAccess)
        (metrics, clocks, log) = (parts.metrics, parts.clocks, parts.log)
        isDelivering = parts.settings.delivery != nil
        judge = Reloadable(
            NotificationJudge(parts.clients.current, isDelivering: isDelivering))
        let (vault, now) = (parts.vault, parts.clocks.now)
        commits = GroupCommit(
            parts.receivingAccess.store,
            decide: { events, page throws(VaultError) in
                try vault.with { vault throws(VaultError) in
                    try vault.changes(after: events.compactMap(\.notice), of: page, at: now())
                }
            }, run: parts.receivingAccess.start)
    }

    /// The profiles were read again.
    func reload() {
        judge.replace(with: NotificationJudge(clients.current, isDelivering: isDelivering))
    }

    /// Receives what was posted.
    func receive(_ body: [UInt8]) async -> Answer {
        let now = clocks.now()
        let judge = judge.current
        guard let token = judge.token(in: body) else { return counted(Answer(400, "malformed")) }
        let known = keys.known(holding: token.verificationKeyID)
        var verdict = judge.verdict(on: token, by: known, receivedAt: now)
        if case .unknownKey(let keyID, _) = verdict,
            case .keySet(let keySet) = await keys.answer(holding: keyID)
        {
            verdict = judge.verdict(on: token, by: keySet, receivedAt: now)
        }
        return await settle(verdict)
    }

    /// Does what a verdict says.
    func settle(_ verdict: NotificationVerdict) async -> Answer {
        switch verdict {
        case .malformed: return counted(Answer(400, "malformed"))
        case .forged(let check): return counted(Answer(401, "invalid_\(check)"))
        case .notForUs: return counted(Answer(403, "not_for_us"))
        case .unusable: return counted(Answer(400, "unusable"))
        case .unknownKey(_, let unverified?): return counted(await keep(unverified))
        case .unknownKey(_, nil): return counted(Answer(401, "invalid_key"))
        case .genuine(let event, let kind): return counted(await commit(event), kind)
        }
    }

    private func counted(_ answer: Answer, _ kind: NotificationEvent.Kind? = nil) -> Answer {
        metrics.countNotification(kind, answer.result)
        return answer
    }

    private func commit(_ event: IncomingEvent) async -> Answer {
        do throws(VaultError) {
            let receipt = try await commits.receive(event)
            for damaged in receipt.damaged { log(.damagedRow(damaged.error)) }
            guard receipt.outcome == .stored else { return Answer(200, "known", event.event) }
            if event.isDelivered { arrival.notify() }
            return Answer(200, "received", event.event)
        } catch {
            log(.databaseFailed(error))
            return Answer(503, "unavailable")
        }
    }

    private func keep(_ unverified: UnverifiedNotification) async -> Answer {
        do throws(VaultError) {
            let outcome = try await access.run { store throws(VaultError) in
                try store.keep(unverified, limit: Self.unverifiedCount)
            }
            switch outcome {
            case .kept: return Answer(200, "unverified")
            case .known: return Answer(200, "known")
            case .full: return Answer(503, "too_many_unverified")
            }
        } catch {
            log(.databaseFailed(error))
            return Answer(503, "unavailable")
        }
    }

    /// How many payloads are kept at most whose key is unknown.
    private static let unverifiedCount = 1000
}

// What was kept until Apple's keys can be had.
extension NotificationReceiver {
    /// Judges what was kept, whenever keys came and once a minute. Runs until it is cancelled.
    func judgeUnverified() async {
        while !Task.isCancelled {
            let count = keys.arrival.count
            await judgeAll()
            await keys.arrival.wait(after: count, atMost: .seconds(60))
        }
    }

    private func judgeAll() async {
        var position = 0
        do throws(VaultError) {
            while !Task.isCancelled {
                let (start, limit) = (position, Self.pageSize)
                let page = try await access.run { store throws(VaultError) in
                    try store.unverified(after: start, limit: limit)
                }
                for error in page.damaged { log(.damagedRow(error)) }
                for entry in page.entries { try await judge(entry) }
                guard let next = page.next else { return }
                position = next
            }
        } catch {
            log(.databaseFailed(error))
        }
    }

    private static let pageSize = 100

    private func judge(_ entry: InboxEntry) async throws(VaultError) {
        guard let payload = entry.body, let token = try? CompactJWS(payload),
            let keyID = token.verificationKeyID
        else { return try await settle(entry.id, as: .forged) }
        var keySet: KeySet?
        if case .keySet(let found) = await keys.answer(holding: keyID) { keySet = found }
        let verdict = judge.current.verdict(
            on: token, by: keySet, receivedAt: entry.receivedAt, verifying: entry.id)
        switch verdict {
        case .genuine: _ = await settle(verdict)
        case .unknownKey: try await rejectIfOld(entry)
        case .forged(let check):
            metrics.countNotification(nil, "invalid_\(check)")
            try await settle(entry.id, as: .forged)
        case .malformed, .notForUs, .unusable: try await settle(entry.id, as: .forged)
        }
    }

    private func rejectIfOld(_ entry: InboxEntry) async throws(VaultError) {
        guard clocks.now() - entry.receivedAt > Self.patience else { return }
        metrics.countNotification(nil, "rejected")
        try await settle(entry.id, as: .rejected)
    }

    /// How long Apple's keys may be unavailable.
    private static let patience = Duration.seconds(7 * 86_400)

    private func settle(
        _ id: EventID, as verdict: UnverifiedNotification.Verdict
    ) async throws(VaultError) {
        log(.info, "unverified_\(verdict)", [.init("jti", .string(id.rawValue))])
        try await access.run { store throws(VaultError) in try store.settle([id], as: verdict) }
    }
}
