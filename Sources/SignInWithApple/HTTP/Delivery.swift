/// Delivers requests: traces them, and repeats what may be repeated while time is left.
public struct Delivery: Sendable {
    private let transport: any Transport
    private let policy: RetryPolicy
    private let deadline: Deadline
    private let clocks: Clocks
    private let trace: @Sendable (TraceEvent) -> Void

    /// Delivers through `transport` until `deadline`.
    public init(
        through transport: any Transport, policy: RetryPolicy = RetryPolicy(),
        until deadline: Deadline,
        clocks: Clocks, trace: @escaping @Sendable (TraceEvent) -> Void = { _ in }
    ) {
        self.transport = transport
        self.policy = policy
        self.deadline = deadline
        self.clocks = clocks
        self.trace = trace
    }

    /// A request in the abstract: composed anew for each attempt, because a wait may have
    /// outlasted the client_secret of the last one.
    struct Order<Answer: Sendable>: Sendable {
        /// What it asks of Apple.
        let kind: RequestKind
        /// Whether sending it twice does no harm.
        let isRepeatable: Bool
        /// What a trace may show of the body.
        let parameterNames: [String]
        /// Makes the request for one attempt.
        let compose: @Sendable (NumericDate) throws(ClientSecretError) -> HTTPRequest
        /// Reads a 2xx answer; nil when it is not what the endpoint gives.
        let read: @Sendable (HTTPResponse) -> Answer?
    }

    func carryOut<Answer>(_ order: Order<Answer>) async throws(TokenFailure) -> Answer {
        var attempts = 0
        while true {
            attempts += 1
            let attempt = await attempt(order, number: attempts)
            switch attempt.result {
            case .success(let answer): return answer
            case .failure(let cause):
                guard let delay = delay(before: order.isRepeatable, cause, attempts),
                    await wait(delay)
                else {
                    throw TokenFailure(
                        cause: cause, request: order.kind, attempts: attempts,
                        clockOffset: attempt.clockOffset,
                        isOutcomeUnknown: !order.isRepeatable && cause.mayHaveTakenEffect)
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
            request = try order.compose(clocks.now())
        } catch {
            return Attempt(result: .failure(.unminted(error)))
        }
        trace(.sending(request, parameterNames: order.parameterNames, attempt: number))
        let start = clocks.timekeeper.elapsed()
        do {
            let response = try await transport.send(request, timeout: deadline.remaining)
            let shown = response.redacting(request.secrets)
            trace(.answered(shown, after: clocks.timekeeper.elapsed() - start))
            return Attempt(
                result: response.judged(showing: shown, read: order.read),
                clockOffset: response.clockOffset(at: clocks.now()))
        } catch {
            trace(.failed(error, after: clocks.timekeeper.elapsed() - start))
            return Attempt(result: .failure(.unreachable(error)))
        }
    }

    private func delay(
        before isRepeatable: Bool, _ cause: TokenFailure.Cause, _ attempts: Int
    ) -> Duration? {
        guard cause.isWorthRepeating, isRepeatable || cause.certainlyNeverLeft else { return nil }
        return policy.delay(
            after: attempts, retryAfter: cause.retryAfter(at: clocks.now()),
            remaining: deadline.remaining, jitter: .random(in: 0..<1))
    }

    /// False when the wait was cut short: the caller has given up.
    private func wait(_ delay: Duration) async -> Bool {
        trace(.waiting(delay))
        return (try? await clocks.timekeeper.sleep(delay)) != nil
    }
}

/// What a trace can tell of; nothing in it is secret but the body of the request, which
/// it must not show.
public enum TraceEvent: Sendable {
    /// A request goes out.
    case sending(HTTPRequest, parameterNames: [String], attempt: Int)
    /// An answer came.
    case answered(HTTPResponse, after: Duration)
    /// No answer came.
    case failed(TransportError, after: Duration)
    /// The next attempt has to wait.
    case waiting(Duration)
}

extension HTTPResponse {
    /// What an answer means: what `read` makes of a 2xx, or why it is of no use.
    ///
    /// - Parameter shown: the answer without the request's secrets, for what may be printed.
    func judged<Answer>(
        showing shown: @autoclosure () -> HTTPResponse, read: (HTTPResponse) -> Answer?
    ) -> Result<Answer, TokenFailure.Cause> {
        if (200..<300).contains(status), let answer = read(self) { return .success(answer) }
        let shown = shown()
        // A server in trouble may say so in JSON; that is an outage all the same.
        if status < 500, status != 429, let error = AppleError(shown) {
            return .failure(.refused(error))
        }
        return .failure(.unusable(shown))
    }
}

extension TokenFailure.Cause: Error {}

extension TokenFailure.Cause {
    /// Whether the same request can fare better later.
    var isWorthRepeating: Bool {
        switch self {
        case .refused, .unminted: false
        case .unusable(let response):
            (200..<300).contains(response.status) || response.status >= 500
                || [408, 425, 429].contains(response.status)
        case .unreachable(let error): error.isPassing
        }
    }

    /// Whether the server certainly never saw the request.
    var certainlyNeverLeft: Bool {
        if case .unreachable(let error) = self { !error.requestMayHaveLeft } else { false }
    }

    /// Whether the server may have acted on the request. 429 and 503 say that it did not, and a
    /// 3xx or 4xx refuses the request as a whole; behind any other status a gateway may have
    /// received Apple's response and lost it.
    var mayHaveTakenEffect: Bool {
        switch self {
        case .refused, .unminted: false
        case .unusable(let response):
            !(300..<500).contains(response.status) && response.status != 503
        case .unreachable(let error): error.requestMayHaveLeft
        }
    }

    func retryAfter(at now: NumericDate) -> Duration? {
        if case .unusable(let response) = self { response.retryAfter(at: now) } else { nil }
    }
}

extension TransportError {
    /// Whether it can pass by itself; a certificate that is not to be trusted stays so.
    var isPassing: Bool {
        switch kind {
        case .nameLookup, .connect, .tls, .proxy, .timeout, .cut, .malformed: true
        case .certificate, .tooLarge, .cancelled, .authorities, .resources, .unavailable: false
        }
    }
}
