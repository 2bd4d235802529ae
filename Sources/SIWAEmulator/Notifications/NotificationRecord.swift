internal import SIWAJOSE
internal import SIWALifecycle

/// One notification as the console shows it: its content, its receiver, and the responses.
struct NotificationRecord: Sendable {
    let at: NumericDate
    let type: String
    let user: String
    let clientID: ClientID
    let notification: EmulatedNotification
    /// The key that signed it.
    let keyID: String
    /// The latest receiver; nil if it was not posted.
    var url: String?
    /// Every attempt, the latest last; at most ``attemptsLimit`` are kept.
    var attempts: [Attempt] = []
    /// The number of requested deliveries; each may need several attempts.
    var deliveries = 0
    /// The number of deliveries that wait or run.
    var pending = 0

    /// One attempt: the status of the response, or the error.
    struct Attempt: Sendable {
        let at: NumericDate
        /// Which delivery of the notification it belongs to, from 1 on.
        let delivery: Int
        let outcome: WebhookSender.Attempt
    }

    static let attemptsLimit = 10_000

    mutating func add(_ attempt: Attempt) {
        if attempts.count == Self.attemptsLimit { attempts.removeFirst() }
        attempts.append(attempt)
    }
}

/// The body of `POST /emulator/notifications/resend`: sends the same notification again, to test a
/// receiver with duplicates and late deliveries.
struct Redelivery {
    let number: Int
    let plan: DeliveryPlan

    init(json: JSON) throws(ShapeError) {
        let reader = try JSONObjectReader(json, knowing: ["number"] + DeliveryPlan.members)
        number = try reader.required("number")
        plan = try DeliveryPlan(reader, attempts: 1)
    }
}

extension NotificationRecord {
    /// The notification as `GET /emulator/notifications/sent` shows it.
    func json(number: Int) -> JSON {
        [
            "number": .integer(number), "at": .string(at.rfc3339), "type": .string(type),
            "user": .string(user), "client_id": clientID.json,
            "jti": .string(notification.id), "payload": .string(notification.payload),
            "url": url.map(JSON.string) ?? .null, "pending": .integer(pending),
            "attempts": .array(
                attempts.map {
                    .object([
                        JSON.Member("at", .string($0.at.rfc3339)),
                        JSON.Member("delivery", .integer($0.delivery)), $0.outcome.member,
                    ])
                }),
        ]
    }

    /// The attempts counted by their outcome, in the order in which each outcome was first seen.
    static func counts(
        _ attempts: some Sequence<WebhookSender.Attempt>
    ) -> [(outcome: WebhookSender.Attempt, count: Int)] {
        var found: [(outcome: WebhookSender.Attempt, count: Int)] = []
        var positions: [String: Int] = [:]
        for attempt in attempts {
            if let position = positions[attempt.summary] {
                found[position].count += 1
            } else {
                positions[attempt.summary] = found.count
                found.append((attempt, 1))
            }
        }
        return found
    }
}
