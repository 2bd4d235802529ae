// What a run does with answers, and with their absence.
extension BatchRun {
    /// Takes a result; see ``RequestFeed``.
    @specialized(where Job == RevokeJob)
    @specialized(where Job == RefreshJob)
    public mutating func take(
        _ result: Result<HTTPResponse, TransportError>, for slot: Int, at now: Duration
    ) {
        freeSlots.append(slot)
        if preparation == slot {
            preparation = nil
            takePreparation(result, at: now)
        } else if let flight = flights[slot] {
            flights[slot] = nil
            take(result, flight, at: now)
        }
    }

    private mutating func takePreparation(
        _ result: Result<HTTPResponse, TransportError>, at now: Duration
    ) {
        let verdict: BatchVerdict<Job.Outcome>? =
            switch result {
            case .success(let response): job.takePreparation(response, at: calendar())
            case .failure(let error): .trouble(.unreachable(error))
            }
        switch verdict {
        case nil, .finished, .held, .next: noteGoodAnswer(at: now)
        case .stop(let cause): finish(.stopped(cause), at: now)
        case .trouble(let cause): slowDown(cause, since: pace.mark, at: now)
        }
    }

    private mutating func take(
        _ result: Result<HTTPResponse, TransportError>, _ flight: Flight, at now: Duration
    ) {
        var flight = flight
        let verdict: BatchVerdict<Job.Outcome> =
            switch result {
            case .success(let response): job.judge(response, for: &flight.item, at: calendar())
            case .failure(let error): .trouble(.unreachable(error))
            }
        switch verdict {
        case .finished(let outcome):
            noteGoodAnswer(at: now)
            let reaction = brake.done()
            sink(flight.item, .answered(outcome))
            react(reaction, at: now)
        case .held(let outcome):
            noteGoodAnswer(at: now)
            held.append((flight.item, outcome))
            react(brake.refused(), at: now)
        case .next:
            noteGoodAnswer(at: now)
            // First in the queue: what was begun is ended before something new is begun.
            waiting.insert(Flight(item: flight.item), at: 0)
        case .stop(let cause): finish(.stopped(cause), at: now)
        case .trouble(let cause): meet(cause, flight, at: now)
        }
    }

    /// Believes some of the refusals that are held, or stops. What is held when the run has ended
    /// is dropped.
    mutating func react(_ reaction: RefusalBrake.Reaction, at now: Duration) {
        guard endedAt == nil else { return }
        switch reaction {
        case .release(0): break
        case .release(let count):
            for (item, outcome) in held.prefix(count) { sink(item, .answered(outcome)) }
            held.removeFirst(min(count, held.count))
        case .stop:
            let share = brake.share
            finish(.tooManyRefused(refused: share.refused, of: share.of), at: now)
        }
    }

    private mutating func noteGoodAnswer(at now: Duration) {
        pace.speedUp()
        goodAnswers += 1
        troubledSince = nil
    }

    private mutating func meet(
        _ cause: TokenFailure.Cause, _ flight: Flight, at now: Duration
    ) {
        var flight = flight
        slowDown(cause, since: flight.mark, at: now)
        flight.spent += cause.share
        let othersFare = goodAnswers > flight.goodAnswersBefore
        // Who allows one attempt means one.
        let isSpent =
            settings.maxAttempts == 1
            || flight.spent >= settings.maxAttempts * TokenFailure.Cause.wholeShare
        if isSpent, othersFare {
            sink(flight.item, .failed(cause, attempts: flight.attempts))
            return
        }
        let policy = RetryPolicy(maxAttempts: .max)
        flight.notBefore =
            now
            + (policy.delay(
                after: flight.attempts, retryAfter: nil, remaining: settings.patience,
                jitter: .random(in: 0..<1)) ?? .zero)
        waiting.append(flight)
    }

    private mutating func slowDown(
        _ cause: TokenFailure.Cause, since mark: Int, at now: Duration
    ) {
        guard cause.isWorthRepeating || cause.isAboutOneItem else {
            return finish(.stopped(cause), at: now)
        }
        pace.slowDown(
            since: mark, cause.pressure, retryAfter: cause.retryAfter(at: calendar()),
            jitter: .random(in: 0..<1), at: now)
        let began = troubledSince ?? now
        troubledSince = began
        if now - began > settings.patience { finish(.gaveUp(cause), at: now) }
    }
}

extension TokenFailure.Cause {
    /// Whether the next item may fare better although this one cannot.
    fileprivate var isAboutOneItem: Bool {
        switch self {
        case .unreachable(let error): error.kind == .tooLarge
        case .unusable: true
        case .refused, .unminted: false
        }
    }

    /// How much of an attempt it uses up. The answers of a server that has too much to do (RFC 6585
    /// §4, RFC 9110 §15.6.4) say little about the item they strike, and when they are one in twelve,
    /// four of 100,000 items meet nothing else four times.
    fileprivate var share: Int {
        if case .unusable(let response) = self, [429, 503].contains(response.status) { return 1 }
        return Self.wholeShare
    }

    fileprivate static let wholeShare = 2

    /// Whether the server is overwhelmed, or a request merely went astray.
    fileprivate var pressure: Pace.Trouble {
        if case .unusable = self { .overload } else { .mishap }
    }
}
