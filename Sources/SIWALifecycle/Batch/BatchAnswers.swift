// The handling of results.
extension BatchRun {
    /// Takes a result; see ``RequestFeed``.
    @specialized(where Job == RevokeJob)
    @specialized(where Job == RefreshJob)
    package mutating func take(
        _ result: Result<HTTPResponse, TransportError>, for slot: Int, at now: Duration
    ) {
        freeSlots.append(slot)
        if let (preparationSlot, sent) = preparation, preparationSlot == slot {
            preparation = nil
            takePreparation(result, sent, at: now)
        } else if var flight = flights[slot].take(), let sent = flight.sent.take() {
            take(result, &flight, sent, at: now)
        }
    }

    private mutating func takePreparation(
        _ result: Result<HTTPResponse, TransportError>, _ sent: SentRequest, at now: Duration
    ) {
        let date = calendar()
        let answer = sent.conclude(result, at: now) { response -> Void? in
            job.takePreparation(response, at: date) ? () : nil
        }
        switch answer {
        case .success: noteSuccess(at: now)
        case .failure(.refused(let refusal)): finish(.stopped(.refused(refusal)), at: now)
        case .failure(let cause): slowDown(cause, since: limiter.mark, at: now)
        }
    }

    private mutating func take(
        _ result: Result<HTTPResponse, TransportError>, _ flight: inout Flight,
        _ sent: SentRequest, at now: Duration
    ) {
        let answer: ItemOutcome<Job.Answer>
        switch sent.conclude(result, at: now, read: { job.read($0, for: flight.item) }) {
        case .success(let read): answer = .done(read)
        case .failure(.refused(let refusal)) where !refusal.code.concernsClient:
            answer = .refused(refusal)
        case .failure(let cause): return meet(cause, flight, at: now)
        }
        switch job.conclude(answer, for: &flight.item, at: calendar()) {
        case .finished(let outcome):
            noteSuccess(at: now)
            let reaction = brake.done()
            sink(flight.item, .answered(outcome))
            react(reaction, at: now)
        case .held(let outcome):
            noteSuccess(at: now)
            held.append((flight.item, outcome))
            react(brake.refused(), at: now)
        case .aside(let outcome):
            noteSuccess(at: now)
            sink(flight.item, .answered(outcome))
        case .next:
            noteSuccess(at: now)
            // At the front of the queue: a started item is finished before another one starts.
            waiting.insert(self.flight(flight.item), at: 0)
        case .stop(let refusal): finish(.stopped(.refused(refusal)), at: now)
        }
    }

    /// Writes the held refusals that the brake believes, or stops the run. Refusals that are still
    /// held when the run ends are dropped.
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

    private mutating func noteSuccess(at now: Duration) {
        limiter.speedUp()
        successes += 1
        failingSince = nil
    }

    private mutating func meet(
        _ cause: TokenFailure.Cause, _ flight: Flight, at now: Duration
    ) {
        var flight = flight
        slowDown(cause, since: flight.mark, at: now)
        flight.attempts.fail(cause)
        let othersSucceed = successes > flight.successesBefore
        if flight.attempts.isExhausted, othersSucceed {
            sink(flight.item, .failed(cause, attempts: flight.attempts.count))
            return
        }
        flight.notBefore = now + flight.attempts.backoff(jitter: .random(in: 0..<1))
        waiting.append(flight)
    }

    private mutating func slowDown(
        _ cause: TokenFailure.Cause, since mark: Int, at now: Duration
    ) {
        guard cause.scope != .client else { return finish(.stopped(cause), at: now) }
        limiter.slowDown(
            since: mark, cause.failure, retryAfter: cause.retryAfter(at: calendar()),
            jitter: .random(in: 0..<1), at: now)
        let began = failingSince ?? now
        failingSince = began
        if now - began > settings.longestOutage { finish(.gaveUp(cause), at: now) }
    }
}

extension TokenFailure.Cause {
    /// Whether the server is overloaded, or a single request got no response.
    fileprivate var failure: RateLimiter.Failure {
        if case .unusable = self { .overload } else { .noResponse }
    }
}
