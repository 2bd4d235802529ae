import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
import SIWAVaultRecords
import Testing

@testable import SIWAServer

@Suite struct StatusPageTests {
    private func report(
        databaseFault: String? = nil, counts: ServerCounts? = ServerCounts(),
        keySetAge: Duration? = .seconds(60), activity: [HourlyActivity] = [],
        clockSkew: Duration? = .seconds(5)
    ) -> StatusReport {
        StatusReport(
            at: NumericDate(1_800_000_000),
            readiness: Readiness(
                databaseFault: databaseFault, keyFault: nil, appleKeys: "fetched"),
            counts: counts, activity: activity,
            secretExpiries: [("app<1>", NumericDate(1_800_000_300))], keySetAge: keySetAge,
            isKeySetFixed: false, clockSkew: clockSkew)
    }

    @Test func `without problems, the page says so`() {
        let page = StatusPage(report()).html
        #expect(report().issues.isEmpty && page.contains("No problems"))
        #expect(page.contains("client_secret of app&lt;1&gt;") && page.contains("5 minutes"))
        #expect(!page.contains("<script") && !page.contains("http://"))
    }

    @Test func `problems are listed first, with remedies`() {
        var counts = ServerCounts()
        counts.inbox[.dead] = 3
        counts.oldestPendingEvent = .seconds(7200)
        counts.revocations[.dead] = 1
        counts.oldestPendingRevocation = .seconds(90_000)
        let report = report(databaseFault: "it is down", counts: counts, keySetAge: nil)
        #expect(report.issues.count == 6)
        #expect(report.issues.first?.fault == "The database cannot be used: it is down.")
        #expect(report.issues[1].remedy.contains("siwa inbox replay --state dead"))
        #expect(report.issues[2].fault.contains("2 hours"))
        #expect(report.issues[3].fault == "A revocation was given up.")
        #expect(report.issues[4].fault.contains("1 day"))
    }

    @Test func `the page shows what waits, and until when`() throws {
        var counts = ServerCounts()
        counts.oldestPendingEvent = .seconds(7200)
        counts.eventAttempts = .init(
            next: NumericDate(1_800_000_060), last: NumericDate(1_800_003_600))
        let report = report(counts: counts)
        let page = StatusPage(report).html
        #expect(page.contains("2027-01-15T08:01:00Z") && page.contains("2027-01-15T09:00:00Z"))
        let fault = try #require(report.issues.first?.fault)
        #expect(fault.contains("2 hours") && fault.contains("2027-01-15T08:01:00Z"))
    }

    @Test func `a clock that differs by more than five seconds is the first problem`() {
        let faults = [75, -6, 6, -5].map {
            report(databaseFault: "it is down", clockSkew: .seconds($0)).issues.map(\.fault)
        }
        #expect(faults[0].first == "This machine's clock is 1 minute 15 seconds behind Apple's.")
        #expect(faults[1].first == "This machine's clock is 6 seconds ahead of Apple's.")
        #expect(faults.map(\.count) == [2, 2, 2, 1])
        #expect(report(clockSkew: nil).issues.isEmpty)
    }

    @Test func `a full inbox, unknown revocations and missing profiles are problems`() {
        var counts = ServerCounts()
        counts.inbox[.unverified] = 1000
        counts.revocations[.unknown] = 2
        var report = report(counts: counts)
        report.missingProfiles = ["com.example.b", "com.example.a"].map(ClientID.init(unchecked:))
        #expect(
            report.issues.map { $0.fault.prefix(20) } == [
                "1000 notifications w", "2 revocations of cod", "No profile has the c",
            ])
        #expect(report.issues.last?.fault.hasSuffix(": com.example.a, com.example.b.") == true)
        counts.inbox[.unverified] = 999
        counts.revocations[.unknown] = 0
        #expect(self.report(counts: counts).issues.isEmpty)
    }

    @Test func `an accent does not prevent escaping`() {
        let page = StatusPage(report(databaseFault: "<\u{338}script>\"\u{301}")).html
        #expect(
            page.unicodeScalars.count { $0 == "<" }
                == StatusPage(report(databaseFault: "a"))
                .html.unicodeScalars.count { $0 == "<" })
        // The accent follows the semicolon now.
        #expect(
            String(page.unicodeScalars.filter(\.isASCII).map(Character.init)).contains("&quot;"))
    }

    @Test func `bars show the hours of the last day, and no others`() {
        let now = 1_800_000_000 / 3600 * 3600
        let hours = [0, -23, -24, 1].map { offset in
            HourlyActivity(begin: NumericDate(now + offset * 3600), counts: [.received: 5])
        }
        let page = StatusPage(report(activity: hours)).html
        #expect(page.split(separator: "<rect").count == 3)
        #expect(page.contains("10 received, 0 delivered, 0 undelivered"))
    }
}
