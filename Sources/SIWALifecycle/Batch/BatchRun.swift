package import SIWAJOSE

/// A run over many items: keeps a bounded number of requests in flight, at the rate Apple
/// allows, and gives every item exactly one result.
///
/// Items come from a source when there is room for them and leave as they finish, so memory
/// does not grow with the input. An item whose request failed is tried again later. An outage
/// that fails every item alike does not use up the items' attempts; the run gives up after
/// ``BatchSettings/longestOutage``.
package struct BatchRun<Job: BatchJob>: RequestFeed {
    let settings: BatchSettings
    let calendar: @Sendable () -> NumericDate
    private let source: @Sendable () -> BatchInput<Job.Item>
    let sink: @Sendable (Job.Item, BatchResult<Job.Outcome>) -> Void
    var job: Job
    var limiter: RateLimiter

    /// The items in flight by their slots.
    var flights: [Flight?]
    var freeSlots: [Int]
    /// The request that all items wait for, and its slot.
    var preparation: (slot: Int, sent: SentRequest)?
    /// Items that wait for another attempt; never more than may be in flight.
    var waiting: [Flight] = []
    /// Refusals that may say nothing about their items, the oldest first.
    var held: [(item: Job.Item, outcome: Job.Outcome)] = []
    var brake: RefusalBrake
    /// The time after which an item must not be sent.
    private let deadline: (@Sendable (Job.Item) -> Duration)?
    /// A new item from the source that cannot start yet.
    private var fresh: Flight?
    private var isInputAtEnd = false
    private var isInputPaused = false

    /// How many requests have succeeded.
    var successes = 0
    /// When the current series of failures began; nil after a success.
    var failingSince: Duration?
    private var silence = SilenceWatch()
    /// Since when a signer has been awaited; nil while there is a client_secret.
    private var unsignedSince: Duration?
    private(set) var endedAt: Duration?

    /// How it ended; meaningful once the feed is finished.
    package private(set) var end = BatchEnd.completed

    struct Flight: Sendable {
        var item: Job.Item
        var attempts: RequestAttempts
        /// The request in flight; nil while the item waits.
        var sent: SentRequest?
        var mark = 0
        var successesBefore = 0
        var notBefore = Duration.zero
    }

    /// Prepares a run.
    ///
    /// - Parameters:
    ///   - calendar: the date, for the times in requests.
    ///   - deadline: the time after which an item must not be sent, asked before every attempt; nil
    ///     for no limit.
    ///   - source: returns the next item if one is available; must not block.
    ///   - sink: takes each item's result; must not block.
    package init(
        _ job: Job, settings: BatchSettings, calendar: @escaping @Sendable () -> NumericDate,
        deadline: (@Sendable (Job.Item) -> Duration)? = nil,
        source: @escaping @Sendable () -> BatchInput<Job.Item>,
        sink: @escaping @Sendable (Job.Item, BatchResult<Job.Outcome>) -> Void
    ) {
        (self.job, self.settings, self.calendar) = (job, settings, calendar)
        (self.source, self.sink) = (source, sink)
        self.deadline = deadline
        brake = RefusalBrake(settings.brake)
        limiter = RateLimiter(concurrency: settings.concurrency, rate: settings.rate)
        flights = Array(repeating: nil, count: settings.width)
        freeSlots = Array((0..<settings.width).reversed())
    }

    var inFlight: Int { flights.count - freeSlots.count }

    /// An item before its first attempt.
    func flight(_ item: Job.Item) -> Flight {
        Flight(item: item, attempts: RequestAttempts(settings.retryPolicy))
    }

    private func sent(_ request: HTTPRequest, attempt: Int, at now: Duration) -> SentRequest {
        SentRequest(request, attempt: attempt, at: now, trace: settings.trace)
    }

    /// What to do now; see ``RequestFeed``.
    @specialized(where Job == RevokeJob)
    @specialized(where Job == RefreshJob)
    package mutating func next(at now: Duration) -> FeedStep {
        if settings.isStopping() { finish(.interrupted, at: now) }
        do throws(ClientSecretError) {
            if endedAt == nil {
                dropLate(at: now)
                if let step = try start(at: now) { return watched(step, at: now) }
            }
        } catch {
            if let step = wait(after: error, at: now) { return watched(step, at: now) }
            finish(.stopped(.unminted(error)), at: now)
        }
        guard let endedAt else { return .wait(until: nil) }
        let drained = endedAt + settings.drainTime
        return inFlight == 0 || now >= drained ? .finished : .wait(until: drained)
    }

    /// No more requests start; responses of those in flight may still arrive.
    mutating func finish(_ end: BatchEnd, at now: Duration) {
        guard endedAt == nil else { return }
        self.end = end
        endedAt = now
    }

    /// Starts what can start; nil when the run ended instead.
    private mutating func start(at now: Duration) throws(ClientSecretError) -> FeedStep? {
        guard preparation == nil else { return .wait(until: nil) }
        guard hasUpcoming(at: now) else {
            // A wait for input is not an outage.
            if inFlight == 0, waiting.isEmpty {
                failingSince = nil
                if isInputPaused { react(brake.end(), at: now) }
            }
            guard endedAt == nil else { return nil }
            guard inFlight == 0, waiting.isEmpty, isInputAtEnd else {
                return .wait(until: waiting.map(\.notBefore).min())
            }
            react(brake.end(), at: now)
            finish(.completed, at: now)
            return nil
        }
        if let pace = settings.pace { limiter.interval = pace() }
        switch limiter.start(inFlight: inFlight, at: now) {
        case .whenOneEnds: return .wait(until: nil)
        case .later(let moment): return wait(until: moment, at: now)
        case .now: return try launch(at: now)
        }
    }

    /// Waits; gives up if the wait would be longer than the longest outage.
    private mutating func wait(until moment: Duration, at now: Duration) -> FeedStep? {
        guard moment - now > settings.longestOutage else { return .wait(until: moment) }
        finish(.askedToWait(moment - now), at: now)
        return nil
    }

    /// Waits for a signer, at most as long as for an answer of Apple's; nil if it would not help.
    private mutating func wait(after error: ClientSecretError, at now: Duration) -> FeedStep? {
        guard error.mayPass else { return nil }
        let since = unsignedSince ?? now
        unsignedSince = since
        return now - since < settings.timeout ? .wait(until: now + .seconds(1)) : nil
    }

    /// Sends the preparation, if one is needed, or the upcoming item's request.
    private mutating func launch(at now: Duration) throws(ClientSecretError) -> FeedStep? {
        guard let slot = freeSlots.last else { return .wait(until: nil) }
        let date = calendar()
        if let request = try job.preparation(at: date) {
            freeSlots.removeLast()
            unsignedSince = nil
            preparation = (slot, sent(request, attempt: 1, at: now))
            return .send(request, slot: slot, timeout: settings.timeout)
        }
        guard var flight = takeUpcoming(at: now) else { return nil }
        let request: HTTPRequest
        do throws(ClientSecretError) {
            request = try job.request(for: &flight.item, at: date)
        } catch {
            waiting.insert(flight, at: 0)
            throw error
        }
        freeSlots.removeLast()
        unsignedSince = nil
        if flight.attempts.count == 0 { flight.successesBefore = successes }
        flight.attempts.begin()
        flight.mark = limiter.mark
        flight.sent = sent(request, attempt: flight.attempts.count, at: now)
        flights[slot] = flight
        return .send(request, slot: slot, timeout: settings.timeout)
    }

    /// The item that starts next: one that has waited long enough for another attempt, or a new
    /// one.
    private mutating func takeUpcoming(at now: Duration) -> Flight? {
        if let index = waiting.firstIndex(where: { $0.notBefore <= now }) {
            return waiting.remove(at: index)
        }
        return fresh.take()
    }

    /// Gives up items whose deadline has passed.
    private mutating func dropLate(at now: Duration) {
        guard let deadline else { return }
        if let flight = fresh, deadline(flight.item) <= now {
            fresh = nil
            sink(flight.item, .late)
        }
        // Asked once for each: an answer about one may change those about others.
        let sink = sink
        waiting.removeAll { flight in
            guard deadline(flight.item) <= now else { return false }
            sink(flight.item, .late)
            return true
        }
    }

    /// Shortens a wait so that it ends in time for the next warning of silence.
    private mutating func watched(_ step: FeedStep, at now: Duration) -> FeedStep {
        guard case .wait(let moment) = step else { return step }
        guard inFlight > 0 || !waiting.isEmpty else {
            silence = SilenceWatch()
            return step
        }
        let (due, length) = silence.check(successes, at: now)
        if let length { settings.warnOfSilence(length) }
        return .wait(until: moment.map { min($0, due) } ?? due)
    }

    private mutating func hasUpcoming(at now: Duration) -> Bool {
        if fresh != nil || waiting.contains(where: { $0.notBefore <= now }) { return true }
        // During an outage, the run must not collect items.
        guard !isInputAtEnd, waiting.count < settings.concurrency else { return false }
        isInputPaused = false
        switch source() {
        case .item(let item): fresh = flight(item)
        case .notYet: break
        case .pause: isInputPaused = true
        case .end: isInputAtEnd = true
        }
        return fresh != nil
    }
}
