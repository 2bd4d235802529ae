import Lifecycle
import Testing

/// What a batch says while Apple gives no usable answer.
@Suite struct BatchSilenceTests {
    @Test(arguments: ["refresh", "revoke"])
    func `a batch that gets no usable answer for two minutes says so`(
        _ command: String
    ) async throws {
        var harness = try await CommandHarness()
        // Asked again after 100 s and 200 s; then the run gives up.
        harness.carrier = ThrottlingApple(count: 9)
        harness.memory.with { $0.input = Array("r-hush-1\n".utf8) }
        let outcome = await harness.run(["batch", command, "--input", "-"])
        #expect(outcome.exitCode == 75, "\(outcome)")
        let warnings = outcome.errors.filter { $0.contains("no request has succeeded") }
        #expect(
            warnings == [
                "siwa: warning: no request has succeeded for 2 minutes; still trying"
            ], "\(outcome)")
    }

    @Test func `a shorter pause that Apple asks for is nothing to warn of`() async throws {
        var harness = try await CommandHarness()
        harness.carrier = ThrottlingApple(count: 1)
        harness.memory.with { $0.input = Array("r-hush-1\n".utf8) }
        let outcome = await harness.run(["batch", "revoke", "--input", "-"])
        #expect(outcome.exitCode == 0 && outcome.errors.count == 1, "\(outcome)")
    }
}

/// An Apple that asks the first requests to come again in 100 s. Answers take no time, and waits
/// only that of the feed.
private struct ThrottlingApple: FeedTransport {
    let count: Int

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        HTTPResponse(status: 200)
    }

    func carry<Feed: RequestFeed>(
        _ feed: Feed, width: Int, wake: WakeSignal, timekeeper: Timekeeper
    ) async throws(TransportError) -> Feed {
        var (feed, now, sent) = (feed, Duration.zero, 0)
        while true {
            switch feed.next(at: now) {
            case .send(_, let slot, _):
                sent += 1
                let answer =
                    sent > count
                    ? HTTPResponse(status: 200)
                    : HTTPResponse(status: 429, fields: [HTTPField("Retry-After", "100")])
                feed.take(.success(answer), for: slot, at: now)
            case .wait(let moment):
                guard let moment else {
                    throw TransportError(
                        .cancelled, "nothing happens any more", requestMayHaveLeft: false)
                }
                now = max(now, moment)
            case .finished: return feed
            }
        }
    }
}
