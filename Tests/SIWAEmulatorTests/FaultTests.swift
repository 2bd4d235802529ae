import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Testing

/// One fault, and how the answer to a good exchange looks under it.
struct FaultCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let fault: JSON
    let status: Int
    var body: String?
    var field: HTTPField?
    var delay = Duration.zero
    var cut: EmulatorReply.Cut?
    /// Whether the code is used up all the same.
    var isSpent = false
}

@Suite struct FaultTests {
    private static let json = HTTPField("Content-Type", "application/json;charset=UTF-8")

    static let cases = [
        FaultCase(
            testDescription: "503", fault: ["status": 503], status: 503,
            field: HTTPField("Content-Type", "text/html")),
        FaultCase(testDescription: "403", fault: ["status": 403], status: 403, body: ""),
        FaultCase(
            testDescription: "429 with Retry-After",
            fault: ["status": 429, "headers": ["Retry-After": "1"]], status: 429,
            field: HTTPField("retry-after", "1")),
        FaultCase(
            testDescription: "an empty page", fault: ["page": "empty"], status: 503, body: ""),
        FaultCase(
            testDescription: "JSON that says nothing", fault: ["page": "json", "status": 200],
            status: 200, body: #"{"status":200}"#, field: json),
        FaultCase(
            testDescription: "a text of one's own", fault: ["page": "moved", "status": 302],
            status: 302, body: "moved"),
        FaultCase(
            testDescription: "an error of tomorrow",
            fault: ["error": "slow_down", "error_description": "Slow."], status: 400,
            body: #"{"error":"slow_down","error_description":"Slow."}"#, field: json),
        FaultCase(
            testDescription: "processed, and then an error",
            fault: ["status": 500, "process": true], status: 500, isSpent: true),
        FaultCase(
            testDescription: "only late", fault: ["delay": "200ms"], status: 200,
            delay: .milliseconds(200), isSpent: true),
        FaultCase(
            testDescription: "only another header",
            fault: ["headers": ["Server": "Pear"]], status: 200,
            field: HTTPField("Server", "Pear"), isSpent: true),
        FaultCase(
            testDescription: "the answer is lost", fault: ["cut": "no_answer"], status: 200,
            cut: .noAnswer, isSpent: true),
        FaultCase(
            testDescription: "half the answer is lost", fault: ["cut": "mid_body"], status: 200,
            cut: .midBody, isSpent: true),
        FaultCase(
            testDescription: "cut before it was taken",
            fault: ["cut": "before_body", "process": false], status: 200, cut: .beforeBody),
    ]

    @Test(arguments: cases) func `a fault changes the response`(_ row: FaultCase) async throws {
        let harness = try await EmulatorHarness()
        let code = try await harness.code()
        #expect(try await harness.control("faults", row.fault) == ["queued": 1])
        let reply = try await reply(to: code, harness)
        #expect(reply.response.status == row.status)
        #expect(reply.delay == row.delay && reply.cut == row.cut)
        if let body = row.body { #expect(reply.response.body == Array(body.utf8)) }
        if let field = row.field { #expect(reply.response.fields[field.name] == field.value) }
        #expect(reply.response.fields.count { $0.name.lowercased() == "server" } == 1)
        #expect(try await harness.exchange(code).status == (row.isSpent ? 400 : 200))
    }

    @Test func `Apple's page for 503 has the recorded length`() async throws {
        let harness = try await EmulatorHarness()
        try await harness.control("faults", ["status": 503])
        let body = try await reply(to: "x", harness).response.body
        #expect(body.count == 190)
        #expect(String(decoding: body, as: UTF8.self).contains("503 Service Temporarily Unavail"))
    }

    @Test func `a fault applies to its endpoint the given number of times, in order`() async throws
    {
        let harness = try await EmulatorHarness()
        try await harness.control("faults", ["endpoint": "/auth/keys", "status": 500])
        try await harness.control("faults", ["status": 502, "count": 2])
        #expect(try await harness.control("faults", ["status": 503]) == ["queued": 4])
        var statuses: [Int] = []
        for _ in 0..<4 { statuses.append(try await reply(to: "x", harness).response.status) }
        #expect(statuses == [502, 502, 503, 400])
        let keys = EmulatorRequest(method: "GET", target: "/auth/keys")
        #expect(await harness.emulator.respond(to: keys).response.status == 500)
        #expect(await harness.emulator.respond(to: keys).response.status == 200)
    }

    @Test func `the same share of the requests fails after every start`() async throws {
        var runs: [[Int]] = []
        for _ in 1...2 {
            let harness = try await EmulatorHarness()
            try await harness.control("faults", ["status": 502, "count": 40, "percent": 10])
            try await harness.control("faults", ["status": 503, "count": 2, "percent": 50])
            var statuses: [Int] = []
            for _ in 1...200 { statuses.append(try await reply(to: "x", harness).response.status) }
            runs.append(statuses)
        }
        #expect(runs[0] == runs[1])
        #expect((10...30).contains(runs[0].count { $0 == 502 }))
        #expect(runs[0].count { $0 == 503 } == 2)
    }

    @Test func `the log distinguishes an injected fault from Apple's own response`() async throws {
        let harness = try await EmulatorHarness()
        try await harness.control(
            "faults", ["error": "slow_down", "delay": "2s", "cut": "mid_body"])
        _ = try await reply(to: "x", harness)
        let record = try await harness.record()
        #expect(record["error"] == "slow_down")
        let summary = "answered 400 instead, delayed by 2.0 seconds, cut: mid_body"
        #expect(record["fault"] == .string(summary))
        try await harness.control("faults", ["status": 503])
        _ = try await reply(to: "x", harness)
        #expect(try await harness.verdict() == "never reached Apple")
        #expect(try await harness.record()["error"] == .null)
    }

    @Test(arguments: [
        ("{}", "a fault must have"), (#"{"status":99}"#, "'status' must be 200 to 599"),
        (#"{"status":503,"count":0}"#, "'count' must be"),
        (#"{"status":503,"percent":101}"#, "'percent' must be 1 to 100"),
        (#"{"cut":"somewhere"}"#, "'cut' must be one of 'no_answer', 'before_body', 'mid_body'"),
        (#"{"delay":"soon"}"#, "'delay' must be a number of seconds, or a duration"),
        (#"{"delay":"2h"}"#, "'delay' at most an hour"),
        (#"{"error":"x","page":"html"}"#, "exclude each other"),
        (#"{"headers":{"A":"b\nC: d"}}"#, "headers.A: must be one line"),
        (#"{"headers":{"A:":"b"}}"#, "headers.A:: must be one line"),
        (#"{"endpoint":"/auth/tokens","status":503}"#, "'endpoint' must be one of '/auth/token'"),
        (#"{"stauts":503}"#, "'stauts' is not known; known are endpoint, status"),
    ])
    func `an invalid fault is refused`(_ body: String, _ message: String) async throws {
        let harness = try await EmulatorHarness()
        let error = await #expect(throws: (any Error).self) {
            try await harness.control("faults", try JSON(text: body))
        }
        #expect("\(try #require(error))".contains(message))
    }

    private func reply(to code: String, _ harness: EmulatorHarness) async throws -> EmulatorReply {
        let form = Form([
            ("client_id", .plain(EmulatorHarness.app)),
            ("client_secret", .plain(try harness.secret())),
            ("grant_type", .plain("authorization_code")), ("code", .plain(code)),
        ])
        return await harness.emulator.respond(
            to: EmulatorRequest(
                method: "POST", target: "/auth/token",
                fields: [HTTPField("content-type", Form.contentType)],
                body: form.encoded().revealed()))
    }
}
