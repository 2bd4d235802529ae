internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// Posts notifications to a receiver, each until the receiver answers 200.
struct WebhookSender: Sendable {
    let transport: any Transport
    let timekeeper: Timekeeper

    private static let timeout = Duration.seconds(10)
    /// The most deliveries that run at the same time, if the receiver is slower than the rate.
    private static let width = 256

    /// The response to one attempt: its status, or the error.
    typealias Attempt = Result<Int, TransportError>

    /// Starts each delivery when it is due; returns all attempts when the last delivery has ended.
    ///
    /// - Parameter note: Called after each attempt.
    func send(
        _ deliveries: [ScheduledDelivery], attempts: Int,
        noting note: @escaping @Sendable (ScheduledDelivery, Attempt) async -> Void
    ) async -> [Attempt] {
        let start = timekeeper.elapsed()
        return await withTaskGroup(of: [Attempt].self) { group in
            var made: [Attempt] = []
            for (index, delivery) in deliveries.enumerated() {
                if index >= Self.width { made += await group.next() ?? [] }
                let wait = delivery.start - (timekeeper.elapsed() - start)
                if wait > .zero { try? await timekeeper.sleep(wait) }
                guard !Task.isCancelled else { break }
                group.addTask {
                    await send(delivery.request, attempts: attempts) {
                        await note(delivery, $0)
                    }
                }
            }
            return await group.reduce(into: made) { $0 += $1 }
        }
    }

    /// Apple's schedule of retries is not known; this one is short, so that a test sees all of it.
    private func send(
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
            return .success(try await transport.send(request, timeout: Self.timeout).status)
        } catch {
            return .failure(error)
        }
    }
}

extension WebhookSender.Attempt {
    /// The receiver's status; nil when it did not answer.
    var status: Int? { try? get() }

    /// The status, or the kind of failure, by which attempts are counted.
    var summary: String {
        switch self {
        case .success(let status): String(status)
        case .failure(let error): error.kind.rawValue
        }
    }

    var member: JSON.Member {
        switch self {
        case .success(let status): JSON.Member("status", .integer(status))
        case .failure(let error):
            JSON.Member("error", .string("\(error.kind.rawValue): \(error.message)"))
        }
    }
}
