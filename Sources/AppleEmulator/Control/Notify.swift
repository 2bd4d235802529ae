internal import SignInWithApple

// POST /emulator/notifications, /emulator/notifications/resend and /emulator/receiver.
extension AppleEmulator {
    /// Lets something happen to a user and posts the notification of it; answers the
    /// notification itself, and every attempt.
    func notify(_ body: JSON) async throws -> JSON {
        let request = try NotificationRequest(json: body, in: configuration, service.users)
        let url = request.url ?? receiver
        guard url == nil || courier != nil else {
            throw ControlError("this emulator has no network: leave 'url' out, and post 'payload'")
        }
        let notification = try service.notify(request)
        notifications.append(
            NotificationRecord(
                at: service.now(), type: request.type, user: request.user.name,
                clientID: request.client.clientID, notification: notification,
                keyID: service.keys.signing.keyID))
        let number = notifications.count
        let attempts = try await deliver(
            number, to: url, copies: notification.delivery.count, attempts: request.attempts,
            after: request.delay, waiting: request.waits)
        return [
            "number": .integer(number), "jti": .string(notification.id),
            "payload": .string(notification.payload),
            "delivered": .boolean(attempts.last?.status == 200),
            "attempts": .array(attempts.map(\.json)),
        ]
    }

    /// Posts a notification again, byte for byte.
    func resend(_ redelivery: Redelivery) async throws -> JSON {
        guard let record = notifications[redelivery.number] else {
            throw ControlError("notification \(redelivery.number) does not exist or is forgotten")
        }
        guard let url = redelivery.url ?? record.url ?? receiver else {
            throw ControlError("there is no receiver: give 'url', or set one with POST receiver")
        }
        // In turn an attempt each: whoever asks for copies wants to see them arrive together.
        let attempts = try await deliver(
            redelivery.number, to: url, copies: redelivery.copies, attempts: 1,
            after: redelivery.delay, waiting: redelivery.waits)
        return [
            "jti": .string(record.notification.id),
            "delivered": .boolean(attempts.last?.status == 200),
            "attempts": .array(attempts.map(\.json)),
        ]
    }

    /// Sets where notifications go that name no `url` of their own.
    func setReceiver(_ body: JSON) throws -> JSON {
        let reader = try MemberReader(body, knowing: ["url"])
        receiver = body["url"] == nil || body["url"] == .null ? nil : try reader.loopbackURL()
        return ["url": receiver.map(JSON.string) ?? .null]
    }

    private func deliver(
        _ number: Int, to url: String?, copies: Int, attempts: Int, after delay: Duration,
        waiting: Bool
    ) async throws -> [Courier.Attempt] {
        guard let url, copies > 0, let record = notifications[number] else { return [] }
        guard let courier else { throw ControlError("this emulator has no network") }
        notifications[number]?.url = url
        notifications[number]?.pending += 1
        let delivery = Task {
            if delay > .zero { try? await courier.timekeeper.sleep(delay) }
            let made = await courier.deliver(
                record.notification, to: url, copies: copies, attempts: attempts
            ) { await self.note($0, of: number) }
            notifications[number]?.pending -= 1
            bell.ring()
            return made
        }
        return waiting ? await delivery.value : []
    }

    private func note(_ attempt: Courier.Attempt, of number: Int) {
        notifications[number]?.add(
            NotificationRecord.Attempt(at: service.now(), outcome: attempt))
        bell.ring()
    }
}

extension Courier.Attempt {
    /// The receiver's status, unless there was no answer.
    var status: Int? { try? get() }

    fileprivate var json: JSON {
        switch self {
        case .success(let status): ["status": .integer(status)]
        case .failure(let error): ["error": .string("\(error.kind.rawValue): \(error.message)")]
        }
    }
}
