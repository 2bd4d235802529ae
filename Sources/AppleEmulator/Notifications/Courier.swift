internal import SIWACrypto
internal import SignInWithApple

/// Posts notifications, again and again until the receiver answers 200.
struct Courier: Sendable {
    let transport: any Transport
    let timekeeper: Timekeeper

    private static let patience = Duration.seconds(10)

    /// What came of one attempt: a status, or why there is none.
    typealias Attempt = Result<Int, TransportError>

    /// Delivers copies of a notification at the same time; answers every attempt.
    ///
    /// - Parameter noting: called after each attempt.
    func deliver(
        _ notification: Notification, to url: String, copies: Int, attempts: Int,
        noting note: @escaping @Sendable (Attempt) async -> Void
    ) async -> [Attempt] {
        let request = HTTPRequest(
            method: .post, url: url,
            fields: [
                HTTPField("Content-Type", "application/json"),
                HTTPField("User-Agent", "siwa-emulator"),
            ],
            body: SecretBytes(notification.body.bytes))
        return await withTaskGroup(of: [Attempt].self) { group in
            for _ in 0..<copies {
                group.addTask { await deliver(request, attempts: attempts, noting: note) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Apple's schedule is not known; this one lets a test see all of it.
    private func deliver(
        _ request: HTTPRequest, attempts: Int, noting note: @Sendable (Attempt) async -> Void
    ) async -> [Attempt] {
        var made: [Attempt] = []
        var wait = Duration.milliseconds(200)
        while true {
            let attempt = await attempt(request)
            made.append(attempt)
            await note(attempt)
            if case .success(200) = attempt { return made }
            guard made.count < attempts, (try? await timekeeper.sleep(wait)) != nil else {
                return made
            }
            wait = min(wait * 2, .seconds(5))
        }
    }

    private func attempt(_ request: HTTPRequest) async -> Attempt {
        do throws(TransportError) {
            return .success(try await transport.send(request, timeout: Self.patience).status)
        } catch {
            return .failure(error)
        }
    }
}

extension Switches.NotificationDelivery {
    /// How often one notification is delivered.
    var count: Int {
        switch self {
        case .once: 1
        case .twice: 2
        case .never: 0
        }
    }
}
