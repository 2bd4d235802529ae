import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// A code is sent to Apple at most once, even if callers repeat requests and replicas are killed.
@Suite(.blocking) struct CodeKillTests {
    @Test(
        .enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"),
        .timeLimit(.minutes(60)))
    func `codes that are posted three times to replicas that are killed are sent once`()
        async throws
    {
        let count = wished("SIWA_SERVER_CODES", usual: 40)
        let fixture = try await ServerFixture(.postgres, users: count)
        let replicas = try await Replicas(fixture, count: 2)
        let seed = SeededRandom.announced(for: "codes of killed replicas")
        let killing = Task {
            var random = seed
            while !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(Int.random(in: 20...900, using: &random)))
                try await replicas.restart(Int.random(in: 0...1, using: &random))
            }
        }
        let codes = try await Self.post(count, fixture, replicas)
        killing.cancel()
        _ = try? await killing.value
        let sent = try await fixture.apple.requests(to: "/auth/token")
            .filter { $0["grant_type"] == "authorization_code" }
            .compactMap { $0["fingerprints"]?["code"]?.string }
        #expect(sent.count == Set(sent).count, "a code was sent twice")
        let stored = try fixture.vault.opened()
        var lost = 0
        for (number, answers) in codes.answers {
            let isStored = stored[fixture.vault.user(number)] != nil
            for answer in answers { try Self.check(answer, isStored) }
            if !isStored, sent.contains(codes.fingerprints[number] ?? "") { lost += 1 }
        }
        let kills = await replicas.kills
        #expect(kills > 0, "no replica was killed while codes were posted")
        print(
            "codes: \(count) posted three times, \(kills) kills, "
                + "\(Set(sent).count) sent, \(stored.count) stored, \(lost) lost by a kill")
        #expect(stored.count > count / 2)
    }

    private static func check(_ answer: HTTPAnswer, _ isStored: Bool) throws {
        let json = try answer.json
        if answer.status == 200 {
            #expect(json["stored"] == .boolean(isStored), "\(answer)")
            #expect(isStored || json["refresh_token"] != nil, "\(answer)")
        } else {
            #expect(json["code"] == "code_may_be_spent", "\(answer)")
        }
    }

    private struct Posted {
        var answers: [Int: [HTTPAnswer]] = [:]
        var fingerprints: [Int: String] = [:]
    }

    private static func post(
        _ count: Int, _ fixture: ServerFixture, _ replicas: Replicas
    ) async throws -> Posted {
        var posted = Posted()
        try await withThrowingTaskGroup(of: (Int, String, [HTTPAnswer]).self) { group in
            for number in 1...count {
                if number > 8, let (number, code, answers) = try await group.next() {
                    posted.answers[number] = answers
                    posted.fingerprints[number] = SecretText(code).fingerprint
                }
                group.addTask {
                    let code = try await Self.code(number, fixture)
                    return (number, code, try await answers(code, replicas))
                }
            }
            for try await (number, code, answers) in group {
                posted.answers[number] = answers
                posted.fingerprints[number] = SecretText(code).fingerprint
            }
        }
        return posted
    }

    /// A code; the emulator may have closed the connection that was kept.
    private static func code(_ number: Int, _ fixture: ServerFixture) async throws -> String {
        for _ in 0..<5 {
            if let code = try? await fixture.code(of: number) { return code }
        }
        return try await fixture.code(of: number)
    }

    private static func answers(
        _ code: String, _ replicas: Replicas
    ) async throws -> [HTTPAnswer] {
        try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
            for first in 0..<3 {
                group.addTask {
                    try await replicas.settled(
                        "POST", "/v1/exchange", ["code": .string(code)], first: first, of: 2)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
