internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
internal import SIWAVaultRecords

/// A server's part of a pass: validates the tokens of one client that no other server validates.
struct ValidationRun: Sendable {
    private let client: ProfileClient
    private let pass: ValidationPass
    private let worker: ValidationWorker

    /// The most requests in flight.
    private static let concurrency = 4
    /// How long Apple may not answer: longer than a batch waits, because nobody waits for this.
    private static let longestOutage = Duration.seconds(3600)
    /// The run stops if more than this share of the last answers are refusals, in percent.
    private static let mostRefused = 50

    init(_ client: ProfileClient, _ pass: ValidationPass, by worker: ValidationWorker) {
        (self.client, self.pass, self.worker) = (client, pass, worker)
    }

    /// Validates until nothing is left, the pass is over, or the worker stops.
    ///
    /// - Throws: ``StoreError`` if the vault is unavailable.
    func carryOut() async throws(StoreError) -> BatchEnd {
        let claim = try claim()
        let (worker, clientID) = (worker, client.clientID)
        let items = LeasedItems(
            claim, worker.clocks,
            LeasedOutput(
                write: { worker.count($0, of: clientID) }, note: { log($0) }, warn: { log($0) }),
            UnsentReports(late: { _ in .late }, unreadable: { _ in .unreadable }), worker.wake)
        let working = worker.access.perform { await items.work() }
        let end = await worker.access.perform { await carry(items) }.value
        items.close()
        await working.value
        if let failure = items.failure { throw failure }
        return end
    }

    private func log(_ message: String) {
        worker.log(
            ServiceEvent(
                .warning, "validation_leases", [.init("message", .string(message))],
                about: LogSubject(clientID: client.clientID)))
    }

    /// The newest active token of each user that was checked neither in this pass nor within the
    /// last day, less an hour: nobody is asked about twice a day.
    private func claim() throws(StoreError) -> VaultClaim {
        let (vault, interval) = (worker.vault, worker.settings.interval)
        let pace = worker.pace
        let (clientID, pass) = (client.clientID, pass)
        @Sendable func filter(_ moment: NumericDate) -> VaultFilter {
            VaultFilter(
                clientID: clientID, states: [.active], notCheckedSince: moment, isNewestOnly: true)
        }
        let run: String
        do {
            run = try Random.bytes(12).hexadecimal
        } catch {
            throw StoreError(.key, "OpenSSL provides no random numbers: \(error)")
        }
        return VaultClaim(
            vault.current.through(worker.access.store.vault(announcing: worker.events)),
            due: { now in filter(min(pass.began, now - interval * 23 / 24)) },
            of: filter(pass.began), every: interval / 288,
            until: { now in now >= pass.began + interval },
            for: .checking(run, duration: leaseDuration),
            size: pace.size(
                of: clientID, lease: leaseDuration, concurrency: Self.concurrency),
            keys: {
                try vault.renew()
                return vault.current.keys
            })
    }

    private func carry(_ items: LeasedItems<ValidationResult>) async -> BatchEnd {
        let (worker, clientID) = (worker, client.clientID)
        let settings = BatchSettings(
            concurrency: Self.concurrency, maxAttempts: client.maxAttempts,
            timeout: client.timeout, longestOutage: Self.longestOutage,
            brake: .share(percent: Self.mostRefused),
            isStopping: { worker.isStopping || items.failure != nil }
        ).paced { worker.pace.interval(of: clientID) }
        let run = BatchRun(
            RefreshJob(client.secrets, baseURL: client.baseURL), settings: settings,
            calendar: worker.clocks.now, deadline: items.deadline, source: items.next
        ) { item, result in
            let (event, report) = Self.meaning(of: result)
            items.finish(item, event, report)
        }
        let listener = client.secrets.answered.addListener { worker.wake.notify() }
        defer { client.secrets.answered.remove(listener) }
        do throws(TransportError) {
            return try await send(run, over: client.transport)
        } catch {
            return .gaveUp(.unreachable(error))
        }
    }

    private func send<Base: Transport>(
        _ run: BatchRun<RefreshJob>, over transport: Base
    ) async throws(TransportError) -> BatchEnd {
        try await FeedCarrier(transport).carry(
            run, width: Self.concurrency + 1, wake: worker.wake,
            timekeeper: worker.clocks.timekeeper
        ).end
    }

    /// What an answer means for the record.
    private static func meaning(
        of result: BatchResult<ItemOutcome<TokenResponse>>
    ) -> (NotedEvent?, ValidationResult) {
        switch result {
        case .answered(let outcome):
            let event = NotedEvent(refresh: outcome)
            return switch (event?.event, outcome) {
            case (.refreshed?, _): (event, .active)
            case (_?, _): (event, .dead)
            case (nil, _): (nil, .refused)
            }
        case .failed: return (nil, .failed)
        case .late: return (nil, .late)
        }
    }
}

extension BatchSettings {
    /// The same settings with a time between two starts that may change.
    fileprivate func paced(by pace: @escaping @Sendable () -> Duration) -> Self {
        var settings = self
        settings.pace = pace
        return settings
    }
}
