internal import SignInWithApple

/// One notification as the console shows it: what it says, where it went, what came back.
struct NotificationRecord: Sendable {
    let at: NumericDate
    let type: String
    let user: String
    let clientID: ClientID
    let notification: Notification
    /// The key that signed it.
    let keyID: String
    /// Where it was posted the last time; nil when it was not posted.
    var url: String?
    /// Every attempt, the latest last; at most ``attemptsLimit`` are kept.
    var attempts: [Attempt] = []
    /// How many deliveries wait or run at the moment.
    var pending = 0

    /// One attempt: a status, or why there is none.
    struct Attempt: Sendable {
        let at: NumericDate
        let outcome: Courier.Attempt
    }

    static let attemptsLimit = 50

    mutating func add(_ attempt: Attempt) {
        attempts = attempts.suffix(Self.attemptsLimit - 1) + [attempt]
    }
}

/// What `POST /emulator/notifications/resend` asks for: the same notification once more, so that
/// a receiver can be tried with duplicates and with late arrivals.
struct Redelivery {
    let number: Int
    /// How many requests carry it, all of them sent at once.
    let copies: Int
    let delay: Duration
    /// Whether the answer waits for the receiver's.
    let waits: Bool
    let url: String?

    init(json: JSON) throws(ShapeError) {
        let reader = try MemberReader(json, knowing: ["number", "copies", "delay", "wait", "url"])
        number = try reader.required("number")
        copies = try reader.optional("copies") ?? 1
        delay = try reader.optional("delay") ?? .zero
        waits = try reader.optional("wait") ?? true
        url = try reader.loopbackURL()
        guard (1...10).contains(copies), (.zero ... .seconds(3600)).contains(delay) else {
            throw ShapeError("", "'copies' must be 1 to 10 and 'delay' at most an hour")
        }
    }
}
