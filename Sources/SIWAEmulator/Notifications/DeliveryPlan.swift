internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The receiver and the schedule of notifications: the members that `POST notifications` and `POST
/// notifications/resend` have in common.
struct DeliveryPlan {
    /// The receiver; nil means the one that was set for all.
    let url: String?
    /// The most attempts of one delivery; it ends when the receiver answers 200.
    let attempts: Int
    /// How many times each notification is delivered.
    let copies: Int
    /// The number of deliveries that start per second; nil starts all of them together.
    let rate: Int?
    /// The delay of the first delivery.
    let delay: Duration
    /// The longest additional delay of each delivery, chosen at random, so that deliveries arrive
    /// out of order.
    let jitter: Duration
    /// Whether the control request is answered after the last attempt.
    let waits: Bool

    static let members = ["url", "attempts", "copies", "rate", "delay", "jitter", "wait"]
    /// The most deliveries that one control request causes.
    static let limit = 10_000

    init(_ reader: JSONObjectReader, attempts standard: Int) throws(ShapeError) {
        url = try reader.loopbackURL()
        attempts = try reader.optional("attempts") ?? standard
        copies = try reader.optional("copies") ?? 1
        rate = try reader.optional("rate")
        delay = try reader.optional("delay") ?? .zero
        jitter = try reader.optional("jitter") ?? .zero
        waits = try reader.optional("wait") ?? true
        let hour = Duration.zero ... .seconds(3600)
        guard (1...10).contains(attempts), hour.contains(delay), hour.contains(jitter) else {
            throw ShapeError(
                "", "'attempts' must be 1 to 10, 'delay' and 'jitter' at most an hour")
        }
        guard (1...Self.limit).contains(copies), (1...100_000).contains(rate ?? 1) else {
            throw ShapeError("", "'copies' must be 1 to \(Self.limit) and 'rate' 1 to 100000")
        }
    }
}

/// One delivery of one notification.
struct ScheduledDelivery {
    /// The number of the notification.
    let number: Int
    let copy: Int
    /// When it starts, after the control request.
    let start: Duration
    let request: HTTPRequest
}

extension DeliveryPlan {
    /// Every delivery of `notifications`, the first to start first. The copies of one notification
    /// follow each other, unless the jitter separates them.
    func deliveries(
        of notifications: [(number: Int, notification: EmulatedNotification)], copies: Int,
        to url: String,
        using random: inout SplitMix64
    ) -> [ScheduledDelivery] {
        let step = rate.map { Duration.seconds(1) / $0 } ?? .zero
        let latest = Int(jitter / .milliseconds(1))
        var deliveries: [ScheduledDelivery] = []
        for (number, notification) in notifications {
            let request = notification.request(to: url)
            for copy in 1..<copies + 1 {
                let late = Duration.milliseconds(Int.random(in: 0...latest, using: &random))
                let start = delay + step * deliveries.count + late
                deliveries.append(
                    ScheduledDelivery(
                        number: number, copy: copy, start: start, request: request))
            }
        }
        return deliveries.sorted { $0.start < $1.start }
    }
}

extension EmulatedNotification {
    fileprivate func request(to url: String) -> HTTPRequest {
        HTTPRequest(
            method: .post, url: url,
            fields: [
                HTTPField("Content-Type", "application/json"),
                HTTPField("User-Agent", "siwa-emulator"),
            ],
            body: SecretBytes(body.bytes))
    }
}
