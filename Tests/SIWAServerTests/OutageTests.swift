import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWAApplication
@testable import SIWAServer
@testable import SIWAServerRecords

/// When an endpoint of Apple is known not to work, and when it is known to work again.
@Suite struct OutageTests {
    private let elapsed = Mutable(Duration.zero)
    private let metrics = Metrics()
    /// What each endpoint answers.
    private let statuses = Mutable(["token": 503, "revoke": 503, "keys": 503])
    private let requests = Mutable<[String]>([])

    /// What Apple's endpoints answered, and which of them are out then.
    struct Course: CustomTestStringConvertible {
        let testDescription: String
        let answers: [(String, String)]
        let outages: [String]

        init(_ name: String, _ answers: [(String, String)], _ outages: [String]) {
            (testDescription, self.answers, self.outages) = (name, answers, outages)
        }
    }

    static let courses = [
        Course("an endpoint that answers", [("token", "ok")], []),
        Course("a refusal", [("token", "invalid_client")], []),
        Course("an unknown path", [("keys", "status_404")], []),
        Course("a request that was cancelled", [("token", "cancelled")], []),
        Course("a server error", [("token", "status_503")], ["token"]),
        Course("no connection", [("keys", "connect")], ["keys"]),
        Course("no answer in time", [("revoke", "timeout")], ["revoke"]),
        Course("it answers again", [("token", "status_503"), ("token", "invalid_grant")], []),
        Course("another endpoint answers", [("token", "status_503"), ("keys", "ok")], ["token"]),
        Course("the network is back", [("token", "connect"), ("keys", "ok")], []),
        Course(
            "the network is back, and Apple is not",
            [("token", "connect"), ("revoke", "status_500")], ["revoke", "token"]),
    ]

    @Test(arguments: courses) func `an endpoint is out until it answers`(_ course: Course) {
        for (endpoint, outcome) in course.answers {
            metrics.note(
                .init(at: NumericDate(0), endpoint: endpoint, outcome: outcome, profile: "app"))
        }
        #expect(metrics.outages.map(\.endpoint) == course.outages)
        var facts = ServerFacts()
        metrics.describe(&facts)
        #expect(ServerFacts(.object(facts.members)).outages == facts.outages)
    }

    /// The other side may close a connection that was not used for a while.
    @Test func `a connection that was cut once is asked about, and is no outage yet`() {
        var shown: [Int] = []
        for outcome in ["cut", "cut", "ok", "cut"] {
            metrics.note(
                .init(at: NumericDate(0), endpoint: "token", outcome: outcome, profile: "app"))
            #expect(metrics.outages.isEmpty == (outcome == "ok"))
            var facts = ServerFacts()
            metrics.describe(&facts)
            shown.append(facts.outages.count)
        }
        #expect(shown == [0, 1, 0, 0])
    }

    @Test func `the token endpoint is asked once a minute until it answers, and the keys then`()
        async throws
    {
        let watch = try watch()
        await watch.askAgain()
        #expect(requests.value.isEmpty)
        for endpoint in ["token", "keys"] {
            metrics.note(
                .init(
                    at: NumericDate(0), endpoint: endpoint, outcome: "status_503", profile: "app"))
        }
        for _ in 1...3 { await watch.askAgain() }
        #expect(requests.value == ["token"])
        statuses.value["token"] = 400
        elapsed.value += .seconds(60)
        await watch.askAgain()
        #expect(metrics.outages.map(\.endpoint) == ["keys"])
        statuses.value["keys"] = 200
        elapsed.value += .seconds(60)
        for _ in 1...3 { await watch.askAgain() }
        #expect(metrics.outages.isEmpty && requests.value == ["token", "token", "keys"])
        #expect(!metrics.isTried("app"), "a code that was never issued proves nothing")
    }

    private func watch() throws -> OutageWatch {
        let (elapsed, statuses, requests) = (elapsed, statuses, requests)
        let clocks = Clocks(
            now: { NumericDate(1_800_000_000) },
            timekeeper: Timekeeper(elapsed: { elapsed.value }, sleep: { _ in }))
        let keys = try RSAPrivateKey.generate().keySet(as: "A")
        let apple = Apple { endpoint in
            requests.value.append(endpoint)
            let status = statuses.value[endpoint] ?? 404
            let answer: JSON = status == 200 ? keys : ["error": "invalid_grant"]
            return HTTPResponse(status: status, body: answer.bytes)
        }
        let (id, team) = (ClientID(unchecked: "com.example.app"), TeamID(unchecked: "A1B2C3D4E5"))
        let client = ProfileClient(
            name: "app", teamID: team,
            secrets: Client(
                teamID: team, clientID: id,
                signingKey: SigningKey(
                    try P256PrivateKey.generate(), id: KeyID(unchecked: "K1L2M3N4P5"))),
            audiences: [id.rawValue],
            transport: AppleRequestMeter(apple, of: "app", metrics, clocks), clocks: clocks)
        let clients = ProfileClients([client], standard: "app")
        return OutageWatch(
            metrics, clients: { clients }, clock: AppleClock(clocks, log: { _ in }))
    }

    /// Answers by endpoint.
    private struct Apple: Transport {
        let answer: @Sendable (String) -> HTTPResponse

        init(_ answer: @escaping @Sendable (String) -> HTTPResponse) { self.answer = answer }

        func send(
            _ request: HTTPRequest, timeout: Duration
        ) async throws(TransportError) -> HTTPResponse {
            answer(String(request.url.split(separator: "/").last ?? ""))
        }
    }
}
