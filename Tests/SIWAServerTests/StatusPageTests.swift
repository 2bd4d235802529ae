import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
import SIWAVaultRecords
import Testing

@testable import SIWAApplication
@testable import SIWAServer

@Suite struct StatusPageTests {
    private func report(
        databaseFault: String? = nil, counts: ServerCounts? = ServerCounts(),
        keySetAge: Int? = 60, activity: [HourlyActivity] = [], clockSkew: Int? = 5,
        hosts: [String] = ["here"], runs seconds: Int = 60, silentFor silence: Int = 0,
        hasFacts: Bool = true, _ words: ServiceWords = .none,
        changing change: (inout ServerFacts, String) -> Void = { _, _ in }
    ) -> ServerStatus {
        let now = NumericDate(1_800_000_000)
        var survey = ServerSurvey()
        (survey.counts, survey.activity, survey.serverVersion) = (counts, activity, 4)
        survey.servers = hosts.map { host in
            var facts = ServerFacts()
            facts.profiles = [
                .init(
                    name: "app<1>", clientID: "com.example.app", teamID: "TEAM", keyID: "KEY",
                    secretExpiresAt: now.adding(seconds: 300), fault: nil, isRefused: false)
            ]
            (facts.databaseFault, facts.keySetAge, facts.clockSkew) =
                (databaseFault, keySetAge, clockSkew)
            change(&facts, host)
            return ServerRecord(
                ServerInstance(id: host, host: host, version: "1"),
                startedAt: now.adding(seconds: -seconds), heartbeatAt: now,
                silence: .seconds(silence), facts: hasFacts ? facts : nil)
        }
        return ServerStatus(survey, at: now, words)
    }

    @Test func `what a server writes is what is read`() {
        let facts = report(databaseFault: "it is down") { facts, _ in
            facts.isKeySetFixed = true
            facts.configurationFingerprint = "0123456789ab"
            facts.lastRefusal = .init(
                at: NumericDate(1_800_000_000), endpoint: "token", outcome: "invalid_client",
                profile: "app")
            facts.appleTimes = .init(count: 3, medianMilliseconds: 5, p99Milliseconds: nil)
            facts.missingProfiles = ["com.example.old"]
            facts.refusedCall = .init(at: NumericDate(1_800_000_000), reason: "a trigger fails")
            facts.startFaults = ["the certificate is gone"]
            facts.changedFiles = ["/etc/tls.pem"]
            facts.listeners = ["127.0.0.1:9765"]
            facts.listenerFaults = ["the socket is gone"]
            facts.expiries = [
                .init(
                    "The certificate", validFrom: NumericDate(1_799_999_000),
                    at: NumericDate(1_800_000_300), lifetime: .seconds(4000))
            ]
        }.worst?.facts
        #expect(facts.map { ServerFacts(.object($0.members)) } == facts)
        #expect(ServerFacts([:]) == ServerFacts())
    }

    @Test func `an expired client_secret is named once, and nothing else is said to be in use`() {
        let expired = "the client_secret expired at 2027-01-15T08:00:00Z"
        let issues = report { facts, _ in
            facts.profiles[0].fault = expired
            facts.startFaults = ["profile 'app<1>': " + expired, "the certificate is gone"]
        }.issues
        #expect(issues.filter { $0.fault.contains(expired) }.count == 1, "\(issues)")
        #expect(issues.map(\.fault).contains("A restart would fail: the certificate is gone."))
    }

    /// It is minted when it is needed; a file is only loaded.
    @Test func `a client_secret that expired is a problem only if another machine mints it`() {
        func issues(keyID: String?) -> [String] {
            report { facts, _ in
                facts.profiles[0].keyID = keyID
                facts.profiles[0].secretExpiresAt = NumericDate(1_800_000_000)
            }.issues.map(\.fault)
        }
        #expect(issues(keyID: "KEY") == [])
        #expect(
            issues(keyID: nil) == [
                "The client_secret for profile app<1> expired at 2027-01-15T08:00:00Z."
            ])
    }

    @Test func `a server that wrote no heartbeat for longer than fifteen seconds has a problem`() {
        #expect(report(silentFor: 15).issues.isEmpty)
        #expect(
            report(silentFor: 16).issues.map(\.fault) == [
                "siwa-server has ended, or cannot use the database: the last heartbeat was written 16 "
                    + "seconds ago."
            ])
        #expect(report(databaseFault: "it is down", silentFor: 16).issues.count == 1)
    }

    /// On a full disk, its first row may be written, which is small, and no other.
    @Test func `a server that wrote nothing but its start is not called well`() {
        let starting = report(hasFacts: false)
        #expect(starting.issues.isEmpty)
        #expect(starting.unknowns.contains("what siwa-server of here finds, which just started"))
        #expect(
            report(silentFor: 16, hasFacts: false).issues.map(\.fault) == [
                "siwa-server has ended, or cannot use the database: the last heartbeat was written 16 "
                    + "seconds ago."
            ])
    }

    @Test(arguments: [
        (90 * 86_400, 14 * 86_400 + 1, false), (90 * 86_400, 14 * 86_400, true),
        (86_400, 21_601, false), (86_400, 21_600, true), (86_400, 0, true), (86_400, -60, true),
    ])
    func `what expires is a problem 14 days before, or in the last quarter of a shorter life`(
        _ lifetime: Int, _ left: Int, _ isProblem: Bool
    ) {
        let faults = report { facts, _ in
            facts.expiries = [
                .init(
                    "The certificate", at: NumericDate(1_800_000_000 + left),
                    lifetime: .seconds(lifetime))
            ]
        }.issues.map(\.fault)
        #expect(faults.isEmpty != isProblem, "\(faults)")
        let words = left > 0 ? "The certificate expires in" : "The certificate expired at 2027-"
        #expect(!isProblem || faults.first?.hasPrefix(words) == true, "\(faults)")
    }

    @Test func `a certificate that is not valid yet is a problem, whatever is left of it`() {
        let faults = report { facts, _ in
            facts.expiries = [
                .init(
                    "The certificate", validFrom: NumericDate(1_800_000_001),
                    at: NumericDate(1_900_000_000), lifetime: .seconds(99_999_999))
            ]
        }.issues.map(\.fault)
        #expect(faults == ["The certificate is not valid before 2027-01-15T08:00:01Z."])
    }

    @Test func `without its database, a server does not know what happened, and has run`() {
        let status = report(databaseFault: "it is down", counts: nil)
        let page = StatusPage(status).html
        #expect(status.lastValidation == "not known" && report().lastValidation == "no token yet")
        #expect(page.contains("<p>Not known.") && !page.contains("<p>None."))
        #expect(!status.unknowns.contains { $0.contains("has not run with this vault yet") })
    }

    @Test func `with a full disk, no server is to be started`() {
        var survey = ServerSurvey()
        survey.serverVersion = 4
        let now = NumericDate(1_800_000_000)
        let none = "No siwa-server is running, or none can write to the database."
        for (free, words) in [
            (nil, none), (20 << 20, none),
            (
                1 << 20,
                "The disk where the vault is is full: 1 MiB are free, and siwa-server cannot write "
                    + "its heartbeat."
            ),
        ] as [(Int?, String)] {
            survey.freeSpace = free
            let issues = ServerStatus(survey, at: now).issues
            #expect(issues.map(\.fault) == [words])
            #expect(issues.first?.remedy.contains("start it") == (free != 1 << 20))
        }
    }

    @Test func `a server that has just started is given time to fetch Apple's keys`() {
        #expect(report(keySetAge: nil, runs: 10).issues == [])
        #expect(
            report(keySetAge: nil, runs: 40).issues.map(\.fault)
                == ["Apple's keys have not been fetched."])
    }

    @Test func `a refused profile comes first, and of several servers the worst with its host`() {
        let status = report(hosts: ["a", "b"]) { facts, host in
            if host == "b" { facts.profiles[0].isRefused = true } else { facts.clockSkew = 9 }
        }
        #expect(status.worst?.server.host == "b")
        #expect(
            status.issues.map(\.sentence) == [
                "b: Apple refuses the client com.example.app of profile app<1>.",
                "a: This machine's clock is 9 seconds behind Apple's.",
            ])
    }

    @Test func `a database that servers used and none uses is a problem`() {
        #expect(
            report(hosts: []).issues.map(\.fault) == [
                "No siwa-server is running, or none can write to the database."
            ])
        #expect(ServerStatus(ServerSurvey(), at: NumericDate(0)).issues.isEmpty)
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
        counts.givenUp = 1
        counts.oldestPendingRevocation = .seconds(90_000)
        let report = report(databaseFault: "it is down", counts: counts, keySetAge: nil)
        #expect(report.issues.count == 6)
        #expect(report.issues.first?.fault == "The database cannot be used: it is down.")
        #expect(report.issues[2].remedy.contains("siwa inbox replay --state dead"))
        #expect(report.issues[3].fault.contains("2 hours"))
        #expect(report.issues[4].fault == "A revocation was given up.")
        #expect(report.issues[5].fault.contains("1 day"))
    }

    @Test func `active tokens of a client that no profile has are a problem`() throws {
        var counts = ServerCounts()
        let gone = try ClientID(validating: "com.example.gone")
        counts.tokens[gone] = [.revoked: 3]
        #expect(report(counts: counts).issues.isEmpty)
        counts.tokens[gone] = [.active: 2, .revoked: 3]
        #expect(
            report(counts: counts).issues.map(\.fault) == [
                "No profile has the client com.example.gone, of which the vault has 2 active tokens."
            ])
        let served = try #require(report().survey.servers.first?.facts?.profiles.first?.clientID)
        counts.tokens = [try ClientID(validating: served): [.active: 2]]
        #expect(report(counts: counts).issues.isEmpty)
    }

    @Test func `tokens that a run left in the middle of their revocation are a problem`() {
        var counts = ServerCounts()
        counts.oldestUnfinished = .seconds(3600)
        #expect(report(counts: counts).issues.isEmpty)
        counts.oldestUnfinished = .seconds(7200)
        let issues = report(counts: counts).issues
        #expect(issues.count == 1)
        #expect(issues.first?.fault.hasSuffix("their revocation, for 2 hours.") == true)
        #expect(issues.first?.remedy.contains("siwa batch revoke --vault --state revoking") == true)
        #expect(StatusPage(report(counts: counts)).html.contains("left revoking"))
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
            report(databaseFault: "it is down", clockSkew: $0).issues.map(\.fault)
        }
        #expect(faults[0].first == "This machine's clock is 1 minute 15 seconds behind Apple's.")
        #expect(faults[1].first == "This machine's clock is 6 seconds ahead of Apple's.")
        #expect(faults.map(\.count) == [2, 2, 2, 1])
        #expect(report(clockSkew: nil).issues.isEmpty)
    }

    @Test func `keys on disk that are not those in use, and failed reloads, are problems`() {
        let report = report { facts, _ in
            facts.vaultKeyFault = "cannot read 'vault.key': no such file or directory"
            facts.profiles[0].keyFault = "key.p8 has another key than the one in use"
            facts.reloadFaults = ["server.deliver.secret_file: webhook.secret: no line begins so"]
        }
        #expect(
            report.issues.map(\.fault) == [
                "The vault cannot be opened with the keys that are in their file now: cannot read "
                    + "'vault.key': no such file or directory.",
                "Profile app<1>: key.p8 has another key than the one in use.",
                "The last reload failed: server.deliver.secret_file: webhook.secret: no line "
                    + "begins so.",
            ])
        #expect(report.issues[1].remedy.contains("load it: systemctl reload siwa-server;"))
        let facts = report.worst?.facts
        #expect(facts.map { ServerFacts(.object($0.members)) } == facts)
    }

    @Test func `a changed configuration of the service needs a restart`() {
        func remedies(_ words: ServiceWords) -> [String] {
            report(words) { facts, _ in
                facts.configuration = "/etc/siwa/config.json"
                facts.hasOldConfiguration = words.isService
                facts.missingProfiles = ["com.example.old"]
            }.issues.map { "\($0.fault) \($0.remedy)" }
        }
        let profile = "No profile has the client of pending revocations: com.example.old. Add its "
        #expect(
            remedies(ServiceWords(copies: "/run/c/", isService: true)) == [
                "/etc/siwa/config.json was changed since the server read it. Look whether a start would "
                    + "succeed: siwa-admin siwa-server check. Then load it: systemctl restart "
                    + "siwa-server; a reload fails, and changes nothing. Until then, what was read "
                    + "before is in use.",
                profile
                    + "profile to the configuration, and load it: systemctl restart siwa-server.",
            ])
        #expect(
            remedies(.none) == [
                profile + "profile to the configuration, and load it: systemctl reload siwa-server."
            ])
    }

    @Test func `a key of which the unit has a copy needs a restart`() {
        let report = report { facts, _ in
            facts.profiles[0].keyFault = "key.p8 has another key than the one in use"
            facts.profiles[0].hasCopiedKey = true
        }
        #expect(report.issues[0].remedy.contains("load it: systemctl restart siwa-server;"))
    }

    @Test func `revocations that do not work are a problem while one waits`() {
        func isProblem(_ revocations: [RevocationJob.State: Int]) -> Bool {
            var counts = ServerCounts()
            counts.revocations = revocations
            return report(counts: counts) { facts, _ in
                facts.outages = [Self.answer("revoke", "status_503")]
            }.issues.contains { $0.fault.contains("/auth/revoke") }
        }
        #expect(isProblem([.pending: 1]) && !isProblem([.revoked: 1]))
    }

    private static func answer(_ endpoint: String, _ outcome: String) -> ServerFacts.Answer {
        .init(
            at: NumericDate(1_800_000_000), endpoint: endpoint, outcome: outcome, profile: "app")
    }

    @Test func `of a certificate that is not trusted, doctor knows the cause, and not Apple`() {
        let remedy = report { facts, _ in
            facts.outages = [Self.answer("token", "certificate")]
        }.issues.first?.remedy
        #expect(remedy?.contains("siwa doctor --online") == true)
        #expect(remedy?.contains("system-status") == false)
    }

    @Test func `Apple's keys that cannot be fetched stop no sign-in`() {
        let remedies = ["keys", "token"].map { endpoint in
            report { facts, _ in
                facts.outages = [Self.answer(endpoint, "status_503")]
            }.issues[0].remedy
        }
        #expect(remedies.map { $0.contains("sign-ins are answered with 503") } == [false, true])
        // Before the first keys, nothing shows that Apple answers anything.
        let first = report(keySetAge: nil) { facts, _ in
            facts.outages = [Self.answer("keys", "connect")]
        }
        #expect(first.issues.contains { $0.remedy.contains("sign-ins are answered with 503") })
        for outcome in ["status_503", "unreadable_404"] {
            let answered = report(keySetAge: nil) { facts, _ in
                facts.outages = [Self.answer("keys", outcome)]
            }
            let remedies = answered.issues.map(\.remedy)
            #expect(!remedies.contains { $0.contains("sign-ins are answered with 503") })
        }
    }

    @Test func `one key under two Key IDs is a problem`() {
        func issues(_ fingerprints: [String]) -> [ServerStatus.Issue] {
            report { facts, _ in
                facts.profiles = zip(["app", "new"], fingerprints).map { name, fingerprint in
                    var profile = facts.profiles[0]
                    (profile.name, profile.keyID) = (name, "KEYOF\(name)")
                    profile.keyFingerprint = fingerprint
                    return profile
                }
            }.issues
        }
        #expect(issues(["a", "b"]) == [])
        #expect(
            issues(["a", "a"]).map(\.fault) == [
                "One key is in use under different Key IDs, and Apple refuses all but one: "
                    + "profile app as KEYOFapp, profile new as KEYOFnew."
            ])
    }

    @Test func `a server that runs and that the vault does not show is a problem`() {
        var survey = ServerSurvey()
        #expect(ServerStatus(survey, at: NumericDate(0)).issues == [])
        survey.hasUnseenServer = true
        #expect(
            ServerStatus(survey, at: NumericDate(0)).issues.map(\.fault) == [
                "siwa-server runs on this machine, and does not write into this vault."
            ])
        survey.serverVersion = 3
        #expect(ServerStatus(survey, at: NumericDate(0)).issues.count == 1)
    }

    @Test func `only what was tried is well`() {
        #expect(report().unknowns == [])
        var counts = ServerCounts()
        counts.tokens = [ClientID(unchecked: "com.example.app"): [.active: 1]]
        let unchecked = ["whether each record can be decrypted, which siwa vault check tries"]
        #expect(report(counts: counts).unknowns == unchecked)
        counts.vaultCheck = .init(at: NumericDate(1_800_000_000), faults: 0)
        #expect(report(counts: counts).unknowns == [])
        let report = report(keySetAge: nil, clockSkew: nil, runs: 10) { facts, _ in
            facts.profiles[0].isTried = false
        }
        #expect(report.issues == [])
        #expect(
            report.unknowns == [
                "whether Apple accepts the client com.example.app", "Apple's keys",
                "this machine's clock",
            ])
        let page = StatusPage(report).html
        #expect(page.contains("No problems are known") && page.contains("Not yet known: whether"))
    }

    @Test func `a refused client has the wrong clock as its possible cause`() {
        let issues = report(clockSkew: 7200) { facts, _ in facts.profiles[0].isRefused = true }
            .issues
        #expect(issues.first?.fault.hasPrefix("Apple refuses the client") == true)
        #expect(
            issues.first?.remedy.hasPrefix(
                "This machine's clock is 2 hours behind Apple's, and Apple refuses secrets whose "
                    + "times are wrong: set it first. ") == true)
    }

    @Test func `of a disk that is nearly full, only what is true is said`() throws {
        let low = try #require(report { facts, _ in facts.freeSpace = 3 << 20 }.issues.first)
        #expect(low.fault == "Only 3 MiB are free where the vault is.")
        #expect(low.remedy.contains("Requests are still served, but GET /readyz answers 503"))
        #expect(report { facts, _ in facts.freeSpace = 17 << 20 }.issues.isEmpty)
        let space = DatabaseWatch({ NumericDate(0) }, isFile: true) { 3 << 20 }
        #expect(space.fault == nil)
        #expect(space.warning == "only 3 MiB are free where the vault is, and 16 MiB are needed")
        #expect(throws: StoreError.self) { try DatabaseWatch.requireSpace(200 << 10) }
        #expect(throws: Never.self) { try DatabaseWatch.requireSpace(3 << 20) }
        #expect(throws: Never.self) { try DatabaseWatch.requireSpace(nil) }
    }

    @Test func `a full inbox, unknown revocations and missing profiles are problems`() {
        var counts = ServerCounts()
        counts.inbox[.unverified] = 1000
        counts.revocations[.unknown] = 2
        let report = report(counts: counts) { facts, _ in
            facts.missingProfiles = ["com.example.b", "com.example.a"]
        }
        #expect(
            report.issues.map { $0.fault.prefix(20) } == [
                "No profile has the c", "1000 notifications w", "2 revocations of cod",
            ])
        #expect(report.issues.first?.fault.hasSuffix(": com.example.a, com.example.b.") == true)
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
        #expect(page.contains("10 received, 0 delivered\""))
        #expect(!page.contains("given up"))
    }

    @Test func `the page says why more was delivered than received, and what has failed`() {
        let now = 1_800_000_000 / 3600 * 3600
        let hour = HourlyActivity(
            begin: NumericDate(now), counts: [.received: 642, .delivered: 643, .undelivered: 1])
        let page = StatusPage(report(activity: [hour])).html
        #expect(page.contains("642 received") && page.contains("1 given up"))
        #expect(page.contains("1 more was delivered than received: sent again because"))
        var counts = ServerCounts()
        counts.inbox[.pending] = 1
        counts.failingEvents = .init(count: 1, attempts: 7)
        let quiet = StatusPage(report(counts: counts)).html
        #expect(quiet.contains("1 waits after up to 7 failed attempts"))
        #expect(!quiet.contains("undelivered"))
    }

    @Test func `the row of the first problem says so, and every problem leads to its row`() {
        var counts = ServerCounts()
        (counts.inbox[.dead], counts.inbox[.unverified]) = (3, 1000)
        counts.oldestPendingEvent = .seconds(7200)
        counts.oldestPendingRevocation = .seconds(90_000)
        for state in [RevocationJob.State.dead, .unknown, .pending] {
            counts.revocations[state] = 1
        }
        let status = report(
            databaseFault: "it is down", counts: counts, keySetAge: nil, clockSkew: 60
        ) { facts, _ in
            facts.profiles[0].isRefused = true
            facts.profiles[0].isSignedElsewhere = true
            facts.profiles[0].signerFault = "it is away"
            facts.profiles[0].fault = "there is no key"
            (facts.missingProfiles, facts.unsavedTokens) = (["com.example.old"], 2)
            facts.validation = .init(everySeconds: 86_400, perSecond: 5)
            facts.validation?.faults = [
                .init(clientID: "com.example.app", reason: "Apple refused 30 of the last 40 tokens")
            ]
        }
        let page = StatusPage(status).html
        #expect(Set(status.issues.map(\.row)).count == status.issues.count)
        let links = page.components(separatedBy: "href=\"#").dropFirst().compactMap {
            $0.components(separatedBy: "\"").first
        }
        #expect(links.count == status.issues.count)
        for link in links {
            #expect(page.contains("<tr id=\"\(link)\" class=\"look\">"), "\(link)")
        }
        #expect(page.components(separatedBy: "look here first").count == 2)
        #expect(page.contains("none ← look here first"))
    }

    @Test func `the axis has hours, and the legend explains the colors`() {
        let hour = HourlyActivity(
            begin: NumericDate(1_800_000_000 / 3600 * 3600), counts: [.received: 5])
        let page = StatusPage(report(activity: [hour])).html
        #expect(page.contains(">8:00</text>") && page.contains("by the hour (UTC)"))
        #expect(page.contains("<span class=\"key came-key\"></span>5 received"))
    }

    @Test func `times of requests and of Apple are the median and the 99th percentile`() {
        let page = StatusPage(
            report { facts, _ in
                facts.appleTimes = .init(count: 300, medianMilliseconds: 250, p99Milliseconds: 2500)
                facts.requestTimes = .init(count: 9, medianMilliseconds: 5, p99Milliseconds: nil)
                facts.lastRefusal = .init(
                    at: NumericDate(1_799_999_000), endpoint: "token", outcome: "invalid_client",
                    profile: "app")
            }
        ).html
        #expect(
            page.contains(
                "300 since the start; half of them at most 250 ms, 99 % at most 2.5 s"))
        #expect(page.contains("9 since the start; half of them at most 5 ms, 99 % more than 30 s"))
        #expect(page.contains("token: invalid_client (app), 2027-01-15T07:43:20Z"))
    }
}
