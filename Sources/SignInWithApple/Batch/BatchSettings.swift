/// How hard a run may press, and when it gives up.
public struct BatchSettings: Sendable {
    /// The most requests in flight.
    public var concurrency: Int
    /// The most requests started in a second; nil for no such limit.
    public var rate: Int?
    /// The most attempts at one request of an item, the first included; one that is answered 429
    /// or 503 counts as half of one.
    public var maxAttempts: Int
    /// The longest wait for one answer.
    public var timeout: Duration
    /// How long nothing may be answered well before the run gives up.
    public var patience: Duration
    /// How long an interrupted run waits for what is in flight.
    public var drainTime: Duration
    /// When refusals are believed.
    public var brake: RefusalBrake.Rule
    /// Called when nothing was answered well for so long, and again after as long.
    public var warnOfSilence: @Sendable (Duration) -> Void
    /// Whether somebody asks the run to stop in an orderly way; asked often.
    public var isStopping: @Sendable () -> Bool

    /// Settles how a run goes.
    public init(
        concurrency: Int = 16, rate: Int? = nil, maxAttempts: Int = 4,
        timeout: Duration = .seconds(30), patience: Duration = .seconds(120),
        drainTime: Duration = .seconds(5), brake: RefusalBrake.Rule = .afterSuccess,
        warnOfSilence: @escaping @Sendable (Duration) -> Void = { _ in },
        isStopping: @escaping @Sendable () -> Bool = { false }
    ) {
        self.concurrency = max(concurrency, 1)
        self.rate = rate
        self.maxAttempts = max(maxAttempts, 1)
        self.timeout = timeout
        self.patience = patience
        self.drainTime = drainTime
        (self.brake, self.warnOfSilence) = (brake, warnOfSilence)
        self.isStopping = isStopping
    }

    /// The most requests in flight at once, one for a preparation included.
    public var width: Int { concurrency + 1 }
}

/// What a source has for a run.
public enum BatchInput<Item: Sendable>: Sendable {
    /// The next item.
    case item(Item)
    /// More will come, but not yet; the bell rings then.
    case notYet
    /// There are no more.
    case end
}
