import Foundation
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWAApplication
@testable import SIWACLI

/// What a terminal shows of a command over many records: how many, how fast, the time left, and at
/// the end a summary.
@Suite struct VaultProgressTests {
    private static let count = 1100
    private static let moved = 600
    private let harness: CommandHarness

    /// A vault whose every command shows its progress; each look at the clock takes a second.
    init() async throws {
        var harness = try await CommandHarness()
        harness.progress = ProgressTerminal()
        self.harness = harness
        harness.memory.with {
            $0.variables["SIWA_VAULT_URL"] = "sqlite:/siwa/vault.db"
            let lines = (0..<Self.count).map { number in
                let state = number < 600 ? "revoked" : "active"
                return """
                    {"user_id":"u\(number)","refresh_token":"r-hush-\(number)","state":"\(state)",\
                    "stored_at":1700000000,"changed_at":1700000000}

                    """
            }
            $0.files["/siwa/tokens.jsonl"] = .init(contents: Array(lines.joined().utf8))
            let moves = (0..<Self.moved).map { number in
                #"{"old_user_id":"u\#(500 + number)","user_id":"new\#(number)"}"# + "\n"
            }
            $0.files["/siwa/moves.jsonl"] = .init(contents: Array(moves.joined().utf8))
        }
        #expect(await harness.run(["vault", "init", "-q"]).exitCode == 0)
    }

    /// What a command shows of `deed`.
    private struct Expected {
        let deed: String
        /// How many are done when a line is shown.
        let counts: [Int]
    }

    private static let commands: [(call: String, shown: [Expected])] = [
        (
            "vault import /siwa/tokens.jsonl",
            [
                Expected(deed: "lines read", counts: [1100]),
                Expected(deed: "records compared with the vault", counts: [1100]),
            ]
        ),
        ("vault check", [Expected(deed: "records decrypted", counts: pages)]),
        ("vault rekey", [Expected(deed: "records encrypted", counts: pages)]),
        (
            "vault export --reveal --output /siwa/out",
            [Expected(deed: "records written", counts: pages)]
        ),
        (
            "vault remap /siwa/moves.jsonl",
            [
                Expected(deed: "lines read", counts: [600]),
                Expected(deed: "users compared with the vault", counts: [500, 600]),
            ]
        ),
        (
            "vault prune --older-than 1d",
            [Expected(deed: "tokens were removed from the vault", counts: [500, 600, 600])]
        ),
        (
            "vault history --since 2020-01-01",
            [Expected(deed: "entries listed", counts: [500, 1000, 1200])]
        ),
        (
            "vault history prune --older-than 0s",
            [
                Expected(
                    deed: "entries were deleted from the history", counts: [500, 1000, 1200, 1200])
            ]
        ),
    ]
    private static let pages = [500, 1000, 1100]

    @Test func `every long command shows records, rate and time left, and ends with a summary`()
        async throws
    {
        for (call, shown) in Self.commands {
            harness.memory.with { $0.now = $0.now + .seconds(1) }
            let (lines, notes) = try await run(call)
            for expected in shown {
                let own = lines.filter { $0.contains(" \(expected.deed), ") }
                #expect(
                    own.compactMap { Int($0.prefix { $0.isNumber }) } == expected.counts,
                    "\(call): \(lines)")
                let form = try Regex(
                    "^[0-9]+( of [0-9]+)? [a-z ]+(, [0-9]+ of [0-9]+ searched)?, [1-9][0-9]*/s, ([0-9]+[dhms])+ left$"
                )
                let areWellFormed = own.allSatisfy { $0.contains(form) }
                #expect(areWellFormed, "\(call): \(own)")
                let all = expected.counts.last ?? 0
                let summary = try Regex(
                    "\(all) \(expected.deed)(, [0-9]+ searched)? in [0-9.]+ [a-z]+ \\([0-9]+/s\\)$")
                let summaries = notes.count { $0.contains(summary) }
                #expect(summaries == 1, "\(call): \(notes)")
            }
            // The line is taken away before the summary is printed.
            #expect(harness.progress?.shown.last == "")
            let left = lines.filter { $0.hasPrefix("\(Self.count) ") }
            #expect(left.allSatisfy { $0.hasSuffix(" 0s left") }, "\(left)")
            let early = lines.filter { $0.hasPrefix("500 ") }
            #expect(early.allSatisfy { !$0.hasSuffix(" 0s left") }, "\(early)")
        }
    }

    @Test func `a line shows the total that the database knows`() async throws {
        _ = try await run("vault import /siwa/tokens.jsonl")
        harness.memory.with { $0.now = $0.now + .seconds(1) }
        let checked = try await run("vault check").lines
        #expect(checked.contains { $0.hasPrefix("500 of 1100 records decrypted, ") }, "\(checked)")
        let pruned = try await run("vault prune --older-than 9000d").lines
        #expect(
            pruned.contains {
                $0.hasPrefix("0 tokens were removed from the vault, ") && $0.contains(" of 600 ")
            }, "\(pruned)")
    }

    @Test func `a phase that cannot be counted is named while it lasts`() async throws {
        #expect(try await run("vault check").lines.first == "the database is checked")
        let looking = try await run("vault rekey").lines.first
        #expect(looking == "records with older keys are looked for")
    }

    @Test func `a quiet command, and one without a terminal, show no progress`() async throws {
        let quiet = try await run("vault import /siwa/tokens.jsonl -q")
        #expect(quiet.lines == [] && quiet.notes == [])
        var other = harness
        other.progress = nil
        let outcome = await other.run(["vault", "check"])
        let notes = outcome.errors.filter { !$0.contains("; vault sqlite:/siwa/vault.db") }
        #expect(outcome.exitCode == 0 && notes == [], "\(outcome)")
    }

    private func run(_ call: String) async throws -> (lines: [String], notes: [String]) {
        harness.progress?.clear()
        let outcome = await harness.run(call.split(separator: " ").map { String($0) })
        #expect(outcome.exitCode == 0, "\(outcome)")
        let lines = try #require(harness.progress).shown.filter { !$0.isEmpty }
        return (lines, outcome.errors)
    }
}
