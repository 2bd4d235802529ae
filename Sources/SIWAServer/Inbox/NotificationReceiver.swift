internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

/// Receives notifications. A notification is acknowledged only after it is on disk.
final class NotificationReceiver: Sendable {
    private let clients: Reloadable<ProfileClients>
    private let classifier: Reloadable<NotificationClassifier>
    private let keys: AppleKeySets
    private let clock: AppleClock
    private let receipts = ReceiptTimes()
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
        /// The status of the error; nil if the notification was accepted.
        let refusal: APIStatus?
        /// The result, for the metrics and the log.
        let result: String
        /// The event; nil unless the notification was verified.
        let event: IncomingEvent?
        /// Why it was not accepted.
        var detail = "the notification was not accepted"

        init(accepted result: String, _ event: IncomingEvent? = nil) {
            (refusal, self.result, self.event) = (nil, result, event)
        }

        init(_ refusal: APIStatus, _ result: String) {
            (self.refusal, self.result, event) = (refusal, result, nil)
        }

        init(_ refusal: NotificationVerdict.Refusal) {
            switch refusal {
            case .malformed: self.init(.badRequest, "malformed")
            case .forged(let check): self.init(.unauthorized, "invalid_\(check)")
            case .notForUs(let audience):
                self.init(.forbidden, "not_for_us")
                detail =
                    "the notification is for \(printable(audience)), which no profile has"
            case .unusable: self.init(.badRequest, "unusable")
            }
        }
    }

    init(_ parts: ServerContext.Parts) {
        (clients, keys, clock) = (parts.clients, parts.keys, parts.clock)
        access = parts.receivingAccess
        (metrics, clocks, log) = (parts.metrics, parts.clocks, parts.log)
        isDelivering = parts.settings.delivery != nil
        classifier = Reloadable(
            NotificationClassifier(parts.clients.current, isDelivering: isDelivering))
        let (vault, now) = (parts.vault, parts.clocks.now)
        commits = GroupCommit(
            parts.receivingAccess.store,
            decide: { events, page throws(StoreError) in
                try vault.with { vault throws(StoreError) in
                    vault.changes(after: events.compactMap(\.notice), of: page, at: now())
                }
            }, maxWait: parts.receivingAccess.maxWait, timekeeper: parts.clocks.timekeeper,
            run: parts.receivingAccess.start)
    }

    /// Applies reloaded profiles.
    func reload() {
        classifier.replace(
            with: NotificationClassifier(clients.current, isDelivering: isDelivering))
    }

    /// What is known of a notification before Apple is asked.
    enum Judgement {
        case refused(Answer)
        case genuine(IncomingEvent, NotificationEvent.Kind)
    }

    /// Judges the body of a POST request by what is known; nil if Apple has to be asked first.
    func judge(_ body: [UInt8]) -> Judgement? {
        let classifier = classifier.current
        guard let token = classifier.token(in: body) else {
            return .refused(counted(Answer(.malformed)))
        }
        let verdict = classifier.verdict(
            on: token, by: keys.known(holding: token.verificationKeyID), receivedAt: clock.times)
        return switch verdict {
        case .genuine(let event, let kind): .genuine(event, kind)
        case .refused(let refusal): .refused(counted(Answer(refusal)))
        case .unknownKey, .untimely: nil
        }
    }

    /// Receives the body of a POST request for which Apple has to be asked. What ``judge(_:)`` has found
    /// is found again: this is rare, and without a known key no signature is verified.
    func receive(_ body: [UInt8]) async -> Answer {
        let receivedAt = clocks.timekeeper.elapsed()
        let classifier = classifier.current
        guard let token = classifier.token(in: body) else { return counted(Answer(.malformed)) }
        var keySet = keys.known(holding: token.verificationKeyID)
        var verdict = classifier.verdict(on: token, by: keySet, receivedAt: clock.times)
        if case .unknownKey(let keyID, _) = verdict {
            if case .keySet(let found) = await keys.answer(holding: keyID) { keySet = found }
            verdict = classifier.verdict(on: token, by: keySet, receivedAt: clock.times)
        }
        if case .untimely = verdict {
            await clock.ask(as: clients.current.asking)
            verdict = classifier.verdict(on: token, by: keySet, receivedAt: clock.times)
        }
        return await settle(verdict, receivedAt: receivedAt)
    }

    /// Carries out a verdict.
    ///
    /// - Parameter receivedAt: when it was received, by the monotonic clock.
    func settle(_ verdict: NotificationVerdict, receivedAt: Duration) async -> Answer {
        switch verdict {
        case .refused(let refusal): return counted(Answer(refusal))
        case .unknownKey(_, let unverified?), .untimely(_, let unverified?):
            return counted(await keep(unverified, receivedAt: receivedAt))
        case .unknownKey(_, nil): return counted(Answer(.unauthorized, "invalid_key"))
        case .untimely(_, nil): return counted(Answer(.unavailable, "time_unknown"))
        case .genuine(let event, let kind):
            return await withCheckedContinuation { continuation in
                commit(event, kind) { continuation.resume(returning: $0) }
                commits.endTurn()
            }
        }
    }

    private func counted(_ answer: Answer, _ kind: NotificationEvent.Kind? = nil) -> Answer {
        metrics.countNotification(kind, answer.result)
        return answer
    }

    /// Called when all requests that an event loop has received wait for their commit.
    func endTurn() {
        commits.endTurn()
        log.writeWaiting()
    }

    /// Stores an event. Its transaction does not begin before ``endTurn()``.
    ///
    /// - Parameters:
    ///   - perform: calls a function on the thread for `answer`.
    ///   - answer: called when the event is on disk, or cannot be stored.
    func commit(
        _ event: IncomingEvent, _ kind: NotificationEvent.Kind,
        on perform: @escaping GroupCommit.Performer = { $0() },
        _ answer: @escaping @Sendable (Answer) -> Void
    ) {
        commits.receive(event, on: perform) { [self] result in
            switch result {
            case .success(let receipt): answer(counted(accepted(event, receipt), kind))
            case .failure(let error): answer(counted(unavailable(error), kind))
            }
        }
    }

    private func accepted(_ event: IncomingEvent, _ receipt: GroupCommit.Receipt) -> Answer {
        for damaged in receipt.damaged {
            access.noteRecord(damaged.error)
            log(.damagedRow(damaged.error))
        }
        guard receipt.outcome == .stored else { return Answer(accepted: "known", event) }
        if event.isDelivered { arrival.notify() }
        return Answer(accepted: "received", event)
    }

    private func unavailable(_ error: StoreError) -> Answer {
        access.note(error)
        logFailure(error)
        return Answer(.unavailable, "unavailable")
    }

    /// A database that is down fails every notification.
    private func logFailure(_ error: StoreError) {
        log(.databaseFailed(error))
    }

    private func keep(
        _ unverified: UnverifiedNotification, receivedAt: Duration
    ) async -> Answer {
        do throws(StoreError) {
            let outcome = try await access.run { store throws(StoreError) in
                try store.keep(unverified, limit: Self.unverifiedCount)
            }
            switch outcome {
            case .kept:
                receipts.note(unverified.id, at: receivedAt)
                return Answer(accepted: "unverified")
            case .known: return Answer(accepted: "known")
            case .full: return Answer(.unavailable, "too_many_unverified")
            }
        } catch {
            logFailure(error)
            return Answer(.unavailable, "unavailable")
        }
    }

    /// The maximum number of stored payloads with an unknown key.
    static let unverifiedCount = ServerStatus.mostUnverified
}

// Payloads that wait until Apple's keys can be fetched, or Apple's time is known.
extension NotificationReceiver {
    /// Verifies the waiting payloads whenever keys were fetched or Apple's time became known, and
    /// whenever keys may be fetched again. Runs until cancelled.
    func verifyWaiting() async {
        clock.notify(keys.arrival)
        while !Task.isCancelled {
            let count = keys.arrival.count
            await verifyAllWaiting()
            await keys.arrival.wait(after: count, atMost: KeySetCache.servicePause)
        }
    }

    private func verifyAllWaiting() async {
        var position = 0
        do throws(StoreError) {
            while !Task.isCancelled {
                let (start, limit) = (position, Self.pageSize)
                let page = try await access.run { store throws(StoreError) in
                    try store.unverified(after: start, limit: limit)
                }
                for error in page.damaged { log(.damagedRow(error)) }
                var forged: [EventID] = []
                for entry in page.entries where try await isForged(entry) {
                    forged.append(entry.id)
                }
                try await settle(forged, as: .forged)
                guard let next = page.next else { return }
                position = next
            }
        } catch {
            log(.databaseFailed(error))
        }
    }

    private static let pageSize = 100

    /// Verifies a payload.
    ///
    /// - Returns: true for one that must be deleted.
    private func isForged(_ entry: InboxEntry) async throws(StoreError) -> Bool {
        guard let payload = entry.body, let token = try? CompactJWS(payload),
            let keyID = token.verificationKeyID
        else { return true }
        var keySet: KeySet?
        if case .keySet(let found) = await keys.answer(
            holding: keyID, receivedAt: entry.receivedAt)
        {
            keySet = found
        }
        var verdict = verdict(on: entry, token, keySet)
        if case .untimely = verdict {
            await clock.ask(as: clients.current.asking)
            verdict = self.verdict(on: entry, token, keySet)
        }
        switch verdict {
        case .genuine:
            if await settle(verdict, receivedAt: .zero).refusal == nil { receipts.remove(entry.id) }
        case .unknownKey, .untimely: try await rejectIfOld(entry)
        case .refused(.forged(let check)):
            metrics.countNotification(nil, "invalid_\(check)")
            return true
        case .refused: return true
        }
        return false
    }

    private func verdict(
        on entry: InboxEntry, _ token: CompactJWS, _ keySet: KeySet?
    ) -> NotificationVerdict {
        classifier.current.verdict(
            on: token, by: keySet,
            receivedAt: clock.receipt(
                of: token, storedAs: entry.receivedAt, at: receipts[entry.id]),
            verifying: entry.id)
    }

    private func rejectIfOld(_ entry: InboxEntry) async throws(StoreError) {
        let age =
            receipts[entry.id].map { clocks.timekeeper.elapsed() - $0 }
            ?? (clocks.now() - entry.receivedAt)
        guard age > Self.maxAge else { return }
        metrics.countNotification(nil, "rejected")
        try await settle([entry.id], as: .rejected)
    }

    /// The age at which a payload whose key or time is unknown is rejected.
    static let maxAge = Duration.seconds(7 * 86_400)

    private func settle(
        _ ids: [EventID], as verdict: UnverifiedNotification.Verdict
    ) async throws(StoreError) {
        guard !ids.isEmpty else { return }
        let name = "unverified_\(verdict)"
        for id in ids {
            log(
                ServiceEvent(.info, name, [.init("jti", .string(id.rawValue))]),
                limitedAs: [.init("of", .string(name))])
        }
        for id in ids { receipts.remove(id) }
        try await access.run { store throws(StoreError) in try store.settle(ids, as: verdict) }
    }
}
