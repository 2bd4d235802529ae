/// How fast a run may go, and when it gives up.
package struct BatchSettings: Sendable {
    /// The most requests in flight.
    package var concurrency: Int
    /// The most requests started in a second; nil for no such limit.
    package var rate: Int?
    /// The least time between the starts of two requests, asked for before each, in place of the
    /// rate; nil for a rate that stays the same.
    package var pace: (@Sendable () -> Duration)?
    /// When an item's request is sent again; an attempt that is answered with 429 or 503 counts
    /// half.
    let retryPolicy: RetryPolicy
    /// The longest wait for one answer.
    package var timeout: Duration
    /// How long no request may succeed before the run gives up.
    package var longestOutage: Duration
    /// How long an interrupted run waits for what is in flight.
    package var drainTime: Duration
    /// When refusals are treated as final.
    package var brake: RefusalBrake.Rule
    /// Called when no request has succeeded for two minutes, and again after as long.
    package var warnOfSilence: @Sendable (Duration) -> Void
    /// Receives the events of requests; nil without `-v`.
    package var trace: RequestTrace?
    /// Whether the run is to stop in an orderly way; asked often.
    package var isStopping: @Sendable () -> Bool

    /// Sets the limits of a run.
    package init(
        concurrency: Int = 16, rate: Int? = nil, maxAttempts: Int = 4,
        timeout: Duration = .seconds(30), longestOutage: Duration = .seconds(120),
        drainTime: Duration = .seconds(5), brake: RefusalBrake.Rule = .afterSuccess,
        warnOfSilence: @escaping @Sendable (Duration) -> Void = { _ in },
        trace: RequestTrace? = nil,
        isStopping: @escaping @Sendable () -> Bool = { false }
    ) {
        self.concurrency = max(concurrency, 1)
        self.rate = rate
        retryPolicy = RetryPolicy(maxAttempts: maxAttempts, overloadCost: .half)
        self.timeout = timeout
        self.longestOutage = longestOutage
        self.drainTime = drainTime
        (self.brake, self.warnOfSilence) = (brake, warnOfSilence)
        (self.trace, self.isStopping) = (trace, isStopping)
    }

    /// The most requests in flight at once, one for a preparation included.
    package var width: Int { concurrency + 1 }
}

/// The state of a source of items.
package enum BatchInput<Item: Sendable>: Sendable {
    /// The next item.
    case item(Item)
    /// More will come, but not yet; the run's ``WakeSignal`` is notified then.
    case notYet
    /// More will come, but perhaps only in hours: until then, held refusals are judged as at the
    /// end.
    case pause
    /// There are no more.
    case end
}
