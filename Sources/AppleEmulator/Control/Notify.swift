internal import SignInWithApple

// POST /emulator/notifications.
extension AppleEmulator {
    /// Lets something happen to a user and posts the notification of it; answers the
    /// notification itself, and every attempt.
    func notify(_ body: JSON) async throws -> JSON {
        let request = try NotificationRequest(json: body, in: configuration, service.users)
        guard request.url == nil || courier != nil else {
            throw ControlError("this emulator has no network: leave 'url' out, and post 'payload'")
        }
        let notification = try service.notify(request)
        var attempts: [Courier.Attempt] = []
        if let url = request.url, let courier {
            attempts = await courier.deliver(notification, to: url, attempts: request.attempts)
        }
        return [
            "jti": .string(notification.id), "payload": .string(notification.payload),
            "delivered": .boolean(attempts.last?.status == 200),
            "attempts": .array(attempts.map(\.json)),
        ]
    }
}

extension Courier.Attempt {
    fileprivate var status: Int? { try? get() }

    fileprivate var json: JSON {
        switch self {
        case .success(let status): ["status": .integer(status)]
        case .failure(let error): ["error": .string("\(error.kind.rawValue): \(error.message)")]
        }
    }
}
