import SIWALifecycle
import Testing

@testable import SIWAJOSE
@testable import SIWAServer
@testable import SIWAServerRecords

@Suite struct ValidationPaceTests {
    private let app = ServiceFixture.app
    private let web = ServiceFixture.web

    private func pace(
        _ tokens: [ClientID: Int], every: Duration = .seconds(86_400), rate: Int = 5,
        servers: Int = 1
    ) -> ValidationPace {
        ValidationPace(
            settings: ValidationSettings(every: every, perSecond: rate), tokens: tokens,
            servers: servers)
    }

    @Test func `many tokens are spread over nine tenths of the day`() {
        let interval = pace([app: 43_200]).interval(of: app)
        #expect(interval * 43_200 == .seconds(77_760))
    }

    @Test func `few tokens are checked once a minute, so that nothing is held back for days`() {
        #expect(pace([app: 3]).interval(of: app) == .seconds(60))
        #expect(pace([:]).interval(of: app) == .seconds(60))
    }

    @Test func `the rate is a limit for all clients together`() {
        let pace = pace([app: 900_000, web: 100_000])
        #expect(pace.interval(of: app) >= .milliseconds(222))
        let perSecond = [app, web].map { 1 / (pace.interval(of: $0) / .seconds(1)) }
        #expect(perSecond.reduce(0, +) <= 5.01)
    }

    @Test func `several servers share the work`() {
        let alone = pace([app: 43_200]).interval(of: app)
        #expect(pace([app: 43_200], servers: 3).interval(of: app) == alone * 3)
    }

    @Test func `what is leased at once is sent before its lease ends`() {
        let slow = pace([app: 3])
        #expect(slow.size(of: app, lease: .seconds(30), concurrency: 4) == 1)
        let fast = pace([app: 1_000_000], rate: 50)
        #expect(fast.size(of: app, lease: .seconds(30), concurrency: 4) == 8)
    }
}

@Suite struct ValidationPassTests {
    @Test(arguments: ServiceFixture.Backend.available)
    func `all servers have the same pass, and the next one begins when its time has come`(
        _ backend: ServiceFixture.Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let (one, two) = (try fixture.store(), try fixture.store())
        let day = Duration.seconds(86_400)
        let first = try one.validationPass(every: day)
        #expect(first.began == first.now && first.servers == 1)
        #expect(try two.validationPass(every: day).began == first.began)
        let name = "WHERE name = 'validation_began_at'"
        try fixture.run("UPDATE server_count SET value = value - 86500 \(name)")
        // The passes keep their distance, however late somebody looks.
        #expect(try one.validationPass(every: day).began == first.began - .seconds(100))
        try fixture.run("UPDATE server_count SET value = value - 300000 \(name)")
        let late = try two.validationPass(every: day)
        #expect(late.began == late.now)
        try fixture.run("UPDATE server_count SET value = value + 300000 \(name)")
        let corrected = try one.validationPass(every: day)
        #expect(corrected.began == corrected.now)
    }
}
