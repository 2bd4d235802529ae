internal import SIWAJOSE

/// Sends one request, and repeats it while that is allowed and time remains.
package struct Delivery: Sendable {
    private let transport: any Transport
    private let policy: RetryPolicy
    private let deadline: Deadline
    private let clocks: Clocks
    private let trace: RequestTrace?

    /// Sends over `transport` until `deadline`.
    package init(
        through transport: any Transport, policy: RetryPolicy = RetryPolicy(),
        until deadline: Deadline,
        clocks: Clocks, trace: RequestTrace? = nil
    ) {
        self.transport = transport
        self.policy = policy
        self.deadline = deadline
        self.clocks = clocks
        self.trace = trace
    }

    /// Waits for what a request needs, by a deadline.
    typealias Preparation = @Sendable (Deadline, Clocks) async throws(ClientSecretError) -> Void

    /// The instructions for a request. It is created again for each attempt, because its
    /// client_secret may have expired during a wait.
    struct Order<Answer: Sendable>: Sendable {
        let kind: RequestKind
        /// Whether sending it twice does no harm.
        let isRepeatable: Bool
        /// Waits for what ``compose`` needs.
        var prepare: Preparation = { _, _ in }
        /// Makes the request for one attempt.
        let compose: @Sendable (NumericDate) throws(ClientSecretError) -> HTTPRequest
        /// Reads a 2xx answer; nil if it is not an answer of the endpoint.
        let read: @Sendable (HTTPResponse) -> Answer?
    }

    /// Waits for what a request needs, without sending it.
    func preparing(_ prepare: Preparation) async throws(ClientSecretError) {
        try await prepare(deadline, clocks)
    }

    func carryOut<Answer>(_ order: Order<Answer>) async throws(TokenFailure) -> Answer {
        var attempts = RequestAttempts(policy, isRepeatable: order.isRepeatable)
        while true {
            attempts.begin()
            let attempt = await attempt(order, number: attempts.count)
            switch attempt.result {
            case .success(let answer): return answer
            case .failure(let cause):
                attempts.fail(cause)
                let delay = attempts.delay(
                    after: cause, at: clocks.now(), remaining: deadline.remaining,
                    jitter: .random(in: 0..<1))
                guard let delay, await wait(delay) else {
                    throw TokenFailure(
                        cause: cause, request: order.kind, attempts: attempts.count,
                        clockOffset: attempt.clockOffset,
                        isOutcomeUnknown: attempts.isOutcomeUnknown(after: cause))
                }
            }
        }
    }

    private struct Attempt<Answer: Sendable>: Sendable {
        let result: Result<Answer, TokenFailure.Cause>
        var clockOffset: Duration?
    }

    private func attempt<Answer>(_ order: Order<Answer>, number: Int) async -> Attempt<Answer> {
        let request: HTTPRequest
        do {
            try await order.prepare(deadline, clocks)
            request = try order.compose(clocks.now())
        } catch {
            return Attempt(result: .failure(.unminted(error)))
        }
        let elapsed = clocks.timekeeper.elapsed
        let sent = SentRequest(request, attempt: number, at: elapsed(), trace: trace)
        let result: Result<HTTPResponse, TransportError>
        do {
            result = .success(try await transport.send(request, timeout: deadline.remaining))
        } catch {
            result = .failure(error)
        }
        return Attempt(
            result: sent.conclude(result, at: elapsed(), read: order.read),
            clockOffset: (try? result.get())?.clockOffset(at: clocks.now()))
    }

    /// Waits; false if the task was cancelled.
    private func wait(_ delay: Duration) async -> Bool {
        trace?(.waiting(delay))
        return (try? await clocks.timekeeper.sleep(delay)) != nil
    }
}
