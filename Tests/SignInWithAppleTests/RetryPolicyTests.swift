import Testing

@testable import SIWAJOSE
@testable import SIWALifecycle

@Suite struct RetryPolicyTests {
    struct Case: Sendable {
        var attempts = 1
        var most = 4
        var retryAfter: Duration?
        var remaining = Duration.seconds(1000)
        var jitter = 0.5
        let delay: Duration?
    }

    static let table: [Row<Case>] = [
        Row("after 1: up to 400 ms", Case(delay: .milliseconds(200))),
        Row("after 2: up to 800 ms", Case(attempts: 2, delay: .milliseconds(400))),
        Row("after 3: up to 1.6 s", Case(attempts: 3, delay: .milliseconds(800))),
        Row("after the last: none", Case(attempts: 4, delay: nil)),
        Row("beyond the last: none", Case(attempts: 5, delay: nil)),
        Row("never more than 10 s", Case(attempts: 9, most: 99, delay: .seconds(5))),
        Row("after 10,000: still 10 s", Case(attempts: 10_000, most: .max, delay: .seconds(5))),
        Row("the jitter may be nothing", Case(jitter: 0, delay: .zero)),
        Row("one attempt: no retry", Case(most: 1, delay: nil)),
        Row("no attempt allowed counts as one", Case(most: 0, delay: nil)),
        Row("fewer than none counts as one", Case(most: .min, delay: nil)),
        Row("the server is believed", Case(retryAfter: .seconds(7), delay: .seconds(7))),
        Row("at once is believed too", Case(retryAfter: .zero, delay: .zero)),
        Row(
            "but not beyond the deadline",
            Case(retryAfter: .seconds(7), remaining: .seconds(7), delay: nil)),
        Row("not past the last attempt either", Case(attempts: 4, retryAfter: .zero, delay: nil)),
        Row("for ever is too long", Case(retryAfter: .seconds(Int.max), delay: nil)),
        Row("no time is left", Case(remaining: .zero, jitter: 0, delay: nil)),
        Row("less time is left than the wait", Case(remaining: .milliseconds(200), delay: nil)),
        Row(
            "just enough time is left",
            Case(remaining: .milliseconds(201), delay: .milliseconds(200))),
    ]

    @Test(arguments: table) func `the waiting time depends on the failure and Retry-After`(
        _ row: Row<Case>
    ) {
        let fields = row.value.retryAfter.map {
            [HTTPField("Retry-After", "\($0.components.seconds)")]
        }
        let cause = TokenFailure.Cause.unusable(HTTPResponse(status: 503, fields: fields ?? []))
        var attempts = RequestAttempts(RetryPolicy(maxAttempts: row.value.most))
        for _ in 0..<row.value.attempts {
            attempts.begin()
            attempts.fail(cause)
        }
        let delay = attempts.delay(
            after: cause, at: Example.now, remaining: row.value.remaining,
            jitter: row.value.jitter)
        #expect(delay == row.value.delay)
    }

    @Test func `an overloaded server uses half an attempt where that is allowed`() {
        func attempts(most: Int, _ cost: AttemptCost, meeting statuses: [Int]) -> Bool {
            var attempts = RequestAttempts(RetryPolicy(maxAttempts: most, overloadCost: cost))
            for status in statuses {
                attempts.begin()
                attempts.fail(.unusable(HTTPResponse(status: status)))
            }
            return attempts.isExhausted
        }
        #expect(attempts(most: 2, .whole, meeting: [503, 429]))
        #expect(!attempts(most: 2, .half, meeting: [503, 429, 429]))
        #expect(attempts(most: 2, .half, meeting: [503, 500, 429]))
        #expect(attempts(most: 1, .half, meeting: [429]))
    }

    static let scopes: [Row<(TokenFailure.Cause, FailureScope)>] = [
        Row("500", (.unusable(HTTPResponse(status: 500)), .passing)),
        Row("429", (.unusable(HTTPResponse(status: 429)), .passing)),
        Row("408", (.unusable(HTTPResponse(status: 408)), .passing)),
        Row("a page of a portal", (.unusable(HTTPResponse(status: 200)), .passing)),
        Row("404", (.unusable(HTTPResponse(status: 404)), .request)),
        Row("302", (.unusable(HTTPResponse(status: 302)), .request)),
        Row("no answer", (.unreachable(.of(.timeout)), .passing)),
        Row("too large", (.unreachable(.of(.tooLarge)), .request)),
        Row("a certificate", (.unreachable(.of(.certificate)), .client)),
        Row("invalid_client", (.refused(.of("invalid_client")), .client)),
        Row("invalid_grant", (.refused(.of("invalid_grant")), .request)),
    ]

    @Test(arguments: scopes) func `each cause of a failure has its scope`(
        _ row: Row<(TokenFailure.Cause, FailureScope)>
    ) {
        #expect(row.value.0.scope == row.value.1)
    }

    static let retryAfter: [Row<(String?, Duration?)>] = [
        Row("absent", (nil, nil)), Row("seconds", ("120", .seconds(120))),
        Row("none", ("0", .zero)),
        Row("spaces around", (" 5\t", .seconds(5))), Row("negative", ("-5", nil)),
        Row("a fraction", ("1.5", nil)), Row("words", ("soon", nil)), Row("nothing", ("", nil)),
        Row("spaces", ("  ", nil)),
        Row("the largest Int", ("9223372036854775807", .seconds(Int.max))),
        Row("beyond Int", ("9223372036854775808", .seconds(Int.max))),
        Row("a date ahead", ("Tue, 14 Nov 2023 22:13:50 GMT", .seconds(30))),
        Row("this moment", ("Tue, 14 Nov 2023 22:13:20 GMT", .zero)),
        Row("a date past", ("Tue, 14 Nov 2023 22:13:19 GMT", .zero)),
        Row("a broken date", ("Tue, 14 Nov 2023 22:13 GMT", nil)),
    ]

    @Test(arguments: retryAfter) func `Retry-After is parsed`(_ row: Row<(String?, Duration?)>) {
        let fields = row.value.0.map { [HTTPField("retry-after", $0)] } ?? []
        let response = HTTPResponse(status: 503, fields: fields)
        #expect(response.retryAfter(at: Example.now) == row.value.1)
    }

    @Test func `the clock offset is the server's time minus this machine's`() {
        func offset(_ date: String) -> Duration? {
            HTTPResponse(status: 200, fields: [HTTPField("DATE", date)]).clockOffset(
                at: Example.now)
        }
        #expect(offset("Tue, 14 Nov 2023 22:13:25 GMT") == .seconds(5))
        #expect(offset("Tue, 14 Nov 2023 22:12:20 GMT") == .seconds(-60))
        #expect(offset("yesterday") == nil)
        #expect(HTTPResponse(status: 200).clockOffset(at: Example.now) == nil)
    }
}

extension TransportError {
    fileprivate static func of(_ kind: Kind) -> Self {
        Self(kind, "no", requestMayHaveLeft: true)
    }
}

extension AppleError {
    fileprivate static func of(_ code: String) -> Self {
        let body = JSON.object([.init("error", .string(code))]).bytes
        guard let error = AppleError(HTTPResponse(status: 400, body: body)) else {
            fatalError("the test's refusal has no code")
        }
        return error
    }
}
