internal import SIWACrypto
internal import SIWAJOSE
import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords
internal import Synchronization

/// Delivers events to the application (Standard Webhooks, https://www.standardwebhooks.com).
final class DeliveryWorker: Sendable {
    private let access: StoreAccess
    private let settings: @Sendable () -> Settings
    private let transport: any Transport
    private let clocks: Clocks
    private let owner: String
    private let log: ServiceLog
    private let wake: WakeSignal
    private let tasks = BackgroundTasks()
    private let places = Mutex(DeliveryPlaces())

    /// The application's URL and the secrets that sign; reloaded together.
    struct Settings: Sendable {
        let target: DeliveryTarget
        let secrets: WebhookSecrets
        /// The most unfinished attempts.
        let maxInFlight: Int

        /// Creates the settings.
        init(
            _ target: DeliveryTarget, _ secrets: WebhookSecrets,
            maxInFlight: Int = DeliveryPlaces.standardLimit
        ) {
            (self.target, self.secrets, self.maxInFlight) = (target, secrets, maxInFlight)
        }
    }

    /// How long to wait when nothing is due.
    private static let pause = Duration.seconds(1)
    /// The time limit of an attempt.
    static let timeout = Duration.seconds(15)

    /// - Parameters:
    ///   - settings: returns the current settings.
    ///   - transport: sends to the application.
    ///   - wake: notified when an event may be due.
    init(
        _ access: StoreAccess, _ settings: @escaping @Sendable () -> Settings,
        transport: any Transport, clocks: Clocks, owner: String, wake: WakeSignal,
        log: @escaping ServiceLog
    ) {
        (self.access, self.settings, self.transport) = (access, settings, transport)
        (self.clocks, self.owner, self.wake, self.log) = (clocks, owner, wake, log)
    }

    /// Delivers until the task is cancelled.
    func run() async {
        let elapsed = clocks.timekeeper.elapsed
        while !Task.isCancelled {
            let count = wake.count
            let limit = settings().maxInFlight
            let room = places.withLock { $0.room(at: elapsed(), limit: limit) }
            let due = room.isEmpty ? [] : await claim(room)
            for delivery in due { start(delivery) }
            var pause = Self.pause
            if room.isUsedUp(by: due) {
                let now = elapsed()
                let release = places.withLock { $0.nextRelease(after: now) }
                pause = release.map { min($0 - now, pause) } ?? pause
            }
            await wake.wait(after: count, atMost: pause)
        }
    }

    private func start(_ delivery: DueDelivery) {
        let elapsed = clocks.timekeeper.elapsed
        let ticket = places.withLock { $0.begin(isRetry: delivery.isRetry, at: elapsed()) }
        tasks.start { [self] in
            await deliver(delivery) { outcome in
                let isAccepted = outcome.next == .done
                places.withLock { $0.end(ticket, isAccepted: isAccepted, at: elapsed()) }
            }
            wake.notify()
        }
    }

    /// Waits for the deliveries in progress.
    func drain() async { await tasks.drain() }

    private var lease: Lease { Lease(owner: owner, duration: leaseDuration) }

    private func claim(_ room: DeliveryRoom) async -> [DueDelivery] {
        let lease = lease
        do throws(StoreError) {
            let due = try await access.run { store throws(StoreError) in
                try store.claimDeliveries(room, for: lease)
            }
            for error in due.damaged { log(.damagedRow(error)) }
            return due.deliveries
        } catch {
            log(.databaseFailed(error))
            return []
        }
    }

    private func deliver(
        _ delivery: DueDelivery, ended: (DeliveryOutcome) -> Void
    ) async {
        let (lease, access) = (lease, access)
        let renew: @Sendable () async -> Void = {
            _ = try? await access.run { store throws(StoreError) in
                try store.renewDeliveries([delivery.id], for: lease)
            }
        }
        let outcome = await renewing(by: clocks.timekeeper, renew) {
            await self.attempt(delivery)
        }
        ended(outcome)
        let owner = owner
        do throws(StoreError) {
            try await access.run { store throws(StoreError) in
                try store.note([outcome], by: owner)
            }
        } catch {
            // The event is due again when its lease ends.
            log(.databaseFailed(error))
        }
    }

    /// Sends an event once.
    func attempt(_ delivery: DueDelivery) async -> DeliveryOutcome {
        let jitter = Double.random(in: 0..<1)
        let request: HTTPRequest
        do {
            request = try settings().request(for: delivery, at: clocks.now())
        } catch {
            return .failed(delivery, "the event cannot be signed: \(error)", jitter: jitter)
        }
        do throws(TransportError) {
            let response = try await transport.send(request, timeout: Self.timeout)
            let outcome = DeliveryOutcome(
                of: delivery, response, at: clocks.now(), jitter: jitter)
            note(delivery, outcome)
            return outcome
        } catch {
            let outcome = DeliveryOutcome.failed(
                delivery, "\(error.kind.rawValue): \(error.message)", jitter: jitter)
            note(delivery, outcome)
            return outcome
        }
    }

    private func note(_ delivery: DueDelivery, _ outcome: DeliveryOutcome) {
        let id = JSON.Member("jti", .string(delivery.id.rawValue))
        switch outcome.next {
        case .done: log(ServiceEvent(.info, "delivered", [id]))
        case .retry, .dead:
            log(
                ServiceEvent(
                    outcome.next == .dead ? .error : .warning,
                    outcome.next == .dead ? "delivery_dead" : "delivery_failed",
                    [
                        id, .init("attempts", .integer(delivery.attempts + 1)),
                        .init("reason", outcome.error.map { .string($0) } ?? .null),
                    ]))
        }
    }
}

extension DeliveryWorker.Settings {
    /// The request that delivers an event now.
    func request(
        for delivery: DueDelivery, at now: NumericDate
    ) throws(OpenSSLError) -> HTTPRequest {
        let signature = try secrets.signature(
            id: delivery.id.rawValue, timestamp: now.seconds, body: delivery.body)
        return HTTPRequest(
            method: .post, url: target.url,
            fields: [
                HTTPField("Content-Type", "application/json"),
                HTTPField("User-Agent", "siwa-server/\(version)"),
                HTTPField("webhook-id", delivery.id.rawValue),
                HTTPField("webhook-timestamp", "\(now.seconds)"),
                HTTPField("webhook-signature", signature),
            ], body: SecretBytes(delivery.body))
    }
}

extension DeliveryOutcome {
    /// Interprets the application's response: 2xx is a success.
    init(
        of delivery: DueDelivery, _ response: HTTPResponse, at now: NumericDate, jitter: Double
    ) {
        guard !(200..<300).contains(response.status) else {
            self = .accepted(delivery.id)
            return
        }
        let isRedirect = (300..<400).contains(response.status)
        self = .failed(
            delivery,
            "the application answered \(response.status)"
                + (isRedirect ? ", a redirect, which is not followed" : ""),
            retryAfter: response.retryAfter(at: now), jitter: jitter)
    }
}

extension ServiceEvent {
    /// The log event of an unreadable row, which does not stop the others.
    static func damagedRow(_ error: StoreError) -> ServiceEvent {
        ServiceEvent(.error, "row_damaged", error)
    }
}
