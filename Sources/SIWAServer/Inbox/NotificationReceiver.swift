internal import JOSE
internal import Lifecycle
internal import SIWACLI
internal import ServerRecords

/// Receives notifications. A notification is acknowledged only after it is on disk.
final class NotificationReceiver: Sendable {
    private let clients: Reloadable<ProfileClients>
    private let classifier: Reloadable<NotificationClassifier>
    private let keys: AppleKeySets
    private let access: StoreAccess
    private let commits: GroupCommit
    private let metrics: Metrics
    private let clocks: Clocks
    private let log: ServerLog
    private let isDelivering: Bool
    /// Notified when an event was received for delivery.
    let arrival = WakeSignal()

    /// The response to a notification.
    struct Answer: Sendable {
        /// The status code.
        let status: Int
        /// The result, for the metrics and the log.
        let result: String
        /// The event; nil unless the notification was verified.
        var event: InboxEvent?
        /// Why it was not accepted.
        var detail = "the notification was not accepted"

        init(_ status: Int, _ result: String, _ event: InboxEvent? = nil) {
            (self.status, self.result, self.event) = (status, result, event)
        }
    }

    init(_ parts: ServerContext.Parts) {
        (clients, keys, access) = (parts.clients, parts.keys, parts.receivingAccess)
        (metrics, clocks, log) = (parts.metrics, parts.clocks, parts.log)
        isDelivering = parts.settings.delivery != nil
        classifier = Reloadable(
            NotificationClassifier(parts.clients.current, isDelivering: isDelivering))
        let (vault, now) = (parts.vault, parts.clocks.now)
        commits = GroupCommit(
            parts.receivingAccess.store,
            decide: { events, page throws(VaultError) in
                try vault.with { vault throws(VaultError) in
                    try vault.changes(after: events.compactMap(\.notice), of: page, at: now())
                }
            }, maxWait: parts.receivingAccess.maxWait, timekeeper: parts.clocks.timekeeper,
            run: parts.receivingAccess.start)
    }

    /// Applies reloaded profiles.
    func reload() {
        classifier.replace(
            with: NotificationClassifier(clients.current, isDelivering: isDelivering))
    }

    /// Receives the body of a POST request.
    func receive(_ body: [UInt8]) async -> Answer {
        let now = clocks.now()
        let classifier = classifier.current
        guard let token = classifier.token(in: body) else {
            return counted(Answer(400, "malformed"))
        }
        let known = keys.known(holding: token.verificationKeyID)
        var verdict = classifier.verdict(on: token, by: known, receivedAt: now)
        if case .unknownKey(let keyID, _) = verdict,
            case .keySet(let keySet) = await keys.answer(holding: keyID)
        {
            verdict = classifier.verdict(on: token, by: keySet, receivedAt: now)
        }
        return await settle(verdict)
    }

    /// Carries out a verdict.
    func settle(_ verdict: NotificationVerdict) async -> Answer {
        switch verdict {
        case .malformed: return counted(Answer(400, "malformed"))
        case .forged(let check): return counted(Answer(401, "invalid_\(check)"))
        case .notForUs(let audience):
            var answer = Answer(403, "not_for_us")
            answer.detail = "the notification is for \(printable(audience)), which no profile has"
            return counted(answer)
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

    /// The maximum number of stored payloads with an unknown key.
    static let unverifiedCount = 1000
}

// Payloads that wait until Apple's keys can be fetched.
extension NotificationReceiver {
    /// Verifies the waiting payloads whenever keys were fetched, and once a minute. Runs until
    /// cancelled.
    func verifyWaiting() async {
        while !Task.isCancelled {
            let count = keys.arrival.count
            await verifyAllWaiting()
            await keys.arrival.wait(after: count, atMost: .seconds(60))
        }
    }

    private func verifyAllWaiting() async {
        var position = 0
        do throws(VaultError) {
            while !Task.isCancelled {
                let (start, limit) = (position, Self.pageSize)
                let page = try await access.run { store throws(VaultError) in
                    try store.unverified(after: start, limit: limit)
                }
                for error in page.damaged { log(.damagedRow(error)) }
                for entry in page.entries { try await verify(entry) }
                guard let next = page.next else { return }
                position = next
            }
        } catch {
            log(.databaseFailed(error))
        }
    }

    private static let pageSize = 100

    private func verify(_ entry: InboxEntry) async throws(VaultError) {
        guard let payload = entry.body, let token = try? CompactJWS(payload),
            let keyID = token.verificationKeyID
        else { return try await settle(entry.id, as: .forged) }
        var keySet: KeySet?
        if case .keySet(let found) = await keys.answer(
            holding: keyID, receivedAt: entry.receivedAt)
        {
            keySet = found
        }
        let verdict = classifier.current.verdict(
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
        guard clocks.now() - entry.receivedAt > Self.maxAge else { return }
        metrics.countNotification(nil, "rejected")
        try await settle(entry.id, as: .rejected)
    }

    /// The age at which a payload without a known key is rejected.
    private static let maxAge = Duration.seconds(7 * 86_400)

    private func settle(
        _ id: EventID, as verdict: UnverifiedNotification.Verdict
    ) async throws(VaultError) {
        log(.info, "unverified_\(verdict)", [.init("jti", .string(id.rawValue))])
        try await access.run { store throws(VaultError) in try store.settle([id], as: verdict) }
    }
}
