internal import SIWAJOSE
internal import SIWALifecycle

// POST /emulator/notifications, /emulator/notifications/resend and /emulator/receiver.
extension AppleEmulator {
    /// Applies an event to one or more users and posts its notifications; returns the notification
    /// and every attempt, or a summary if `count` is given.
    func notify(_ body: JSON) async throws -> JSON {
        let request = try NotificationRequest(json: body, in: configuration, service.users)
        let url = request.plan.url ?? receiver
        guard url == nil || sender != nil else {
            throw ControlError("this emulator has no network: leave 'url' out, and post 'payload'")
        }
        let (drafts, keys) = (try service.notify(request), service.keys)
        let signed = try await keys.sign(drafts)
        let first = notifications.count + 1
        for (user, notification) in zip(request.users, signed) {
            notifications.append(
                NotificationRecord(
                    at: service.now(), type: request.type, user: user.name,
                    clientID: request.client.clientID, notification: notification,
                    keyID: keys.signing.keyID))
        }
        changes.notify()
        let numbered = signed.enumerated().map { (first + $0, $1) }
        let copies = request.plan.copies * service.behaviors.notificationDelivery.count
        let attempts = try await deliver(numbered, copies: copies, request.plan, to: url)
        return request.isMany
            ? Self.summary(first..<first + signed.count, attempts)
            : Self.answer(first, signed[0], attempts)
    }

    /// Posts a notification again, byte for byte.
    func resend(_ redelivery: Redelivery) async throws -> JSON {
        guard let record = notifications[redelivery.number] else {
            throw ControlError("notification \(redelivery.number) does not exist or is forgotten")
        }
        guard let url = redelivery.plan.url ?? record.url ?? receiver else {
            throw ControlError("no receiver is set: give 'url', or set one with POST receiver")
        }
        let attempts = try await deliver(
            [(redelivery.number, record.notification)], copies: redelivery.plan.copies,
            redelivery.plan, to: url)
        return Self.answer(redelivery.number, record.notification, attempts)
    }

    /// Sets the receiver of notifications without a `url`.
    func setReceiver(_ body: JSON) throws -> JSON {
        let reader = try JSONObjectReader(body, knowing: ["url"])
        receiver = body["url"] == nil || body["url"] == .null ? nil : try reader.loopbackURL()
        return ["url": receiver.map(JSON.string) ?? .null]
    }

    private static func answer(
        _ number: Int, _ notification: EmulatedNotification, _ attempts: [WebhookSender.Attempt]
    ) -> JSON {
        [
            "number": .integer(number), "jti": .string(notification.id),
            "payload": .string(notification.payload),
            "delivered": .boolean(attempts.last?.status == 200),
            "attempts": .array(attempts.map { .object([$0.member]) }),
        ]
    }

    private static func summary(
        _ numbers: Range<Int>, _ attempts: [WebhookSender.Attempt]
    ) -> JSON {
        let counts = NotificationRecord.counts(attempts).map {
            JSON.Member($0.outcome.summary, .integer($0.count))
        }
        return [
            "first": .integer(numbers.lowerBound), "last": .integer(numbers.upperBound - 1),
            "attempts": .object(counts),
        ]
    }

    private func deliver(
        _ numbered: [(number: Int, notification: EmulatedNotification)], copies: Int,
        _ plan: DeliveryPlan, to url: String?
    ) async throws -> [WebhookSender.Attempt] {
        guard let url, copies > 0 else { return [] }
        guard let sender else { throw ControlError("this emulator has no network") }
        let deliveries = plan.deliveries(of: numbered, copies: copies, to: url, using: &random)
        // Notifications that were created together have the same number of deliveries.
        let earlier = numbered.first.flatMap { notifications[$0.number]?.deliveries } ?? 0
        for (number, _) in numbered {
            notifications.change(number) {
                $0.url = url
                $0.deliveries += copies
                $0.pending += 1
            }
        }
        let (delivery, instance) = (Fresh.text(12), instance)
        let task = Task {
            let made = await sender.send(deliveries, attempts: plan.attempts) {
                await self.note($1, of: $0, after: earlier, in: instance)
            }
            deliveryTasks[delivery] = nil
            // After a reset the numbers mean other notifications.
            guard self.instance == instance else { return made }
            for (number, _) in numbered { notifications.change(number) { $0.pending -= 1 } }
            changes.notify()
            return made
        }
        deliveryTasks[delivery] = task
        return plan.waits ? await task.value : []
    }

    private func note(
        _ attempt: WebhookSender.Attempt, of delivery: ScheduledDelivery, after earlier: Int,
        in instance: String
    ) {
        guard self.instance == instance else { return }
        let at = service.now()
        notifications.change(delivery.number) {
            $0.add(
                NotificationRecord.Attempt(
                    at: at, delivery: earlier + delivery.copy, outcome: attempt))
        }
        changes.notify()
    }
}

extension Behaviors.NotificationDelivery {
    /// How many times one notification is delivered.
    fileprivate var count: Int {
        switch self {
        case .once: 1
        case .twice: 2
        case .never: 0
        }
    }
}
