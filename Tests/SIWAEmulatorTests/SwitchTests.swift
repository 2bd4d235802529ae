import Foundation
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Testing

/// The switches, what they do, and what docs/emulator.md says of them.
@Suite struct SwitchTests {
    /// Those whose effect other suites test.
    static let elsewhere: Set = [
        "audience_array", "clock_skew_tolerance", "redirect_mismatch", "accept_spare_redirect_uri",
        "redirect_mismatch_description", "mismatch_full_stop", "authorize_refusal",
        "code_lifetime", "access_token_lifetime", "id_token_lifetime",
        "email_claims", "refresh_id_token", "refresh_nonce", "refresh_after_revoke",
        "revoke_checks_hint", "revoke_checks_client", "discovery_issuer",
        "allow_loopback_redirect", "notification_events", "notification_time",
        "notification_private_email", "notification_delivery", "migration_needs_sign_in",
        "early_recipient",
    ]

    @Test(arguments: SwitchCase.all) func `each position of a switch has its own effect`(
        _ row: SwitchCase
    ) async throws {
        #expect(try await row.act(try await EmulatorHarness()) == row.standard, "by default")
        let turned = try await EmulatorHarness([:])
        try await turned.control("switches", .object([JSON.Member(row.name, row.value)]))
        #expect(try await row.act(turned) == row.turned, "turned")
    }

    @Test func `every switch has a test`() async throws {
        let names = Set(try await switches().members?.map(\.name) ?? [])
        let here = Set(SwitchCase.all.map(\.name))
        #expect(here.isDisjoint(with: Self.elsewhere))
        #expect(here.union(Self.elsewhere) == names)
    }

    @Test func `every switch is documented in the table, with its values in backticks`()
        async throws
    {
        let rows = try documentedRows()
        let switches = try #require(try await switches().members)
        let known = Set(switches.map(\.name))
        let documented = rows.flatMap(\.names).filter { !known.contains($0) }
        #expect(documented.isEmpty, "these do not exist")
        for entry in switches {
            let row = try #require(
                rows.first { $0.names.contains(entry.name) }, "\(entry.name) has no row")
            let values = try await Self.values(of: entry.name)
            let index = try #require(row.names.firstIndex(of: entry.name))
            let listed = row.values.count > 1 ? row.values[index] : row.values[0]
            #expect(Self.isDefault(listed.first ?? "", entry.value), "\(entry.name): \(listed)")
            for value in values {
                #expect(listed.contains(value), "\(entry.name): '\(value)' in \(listed)")
            }
        }
    }

    private struct Row {
        let names: [String]
        /// The words in backticks: one list for each name, or one for all of them.
        let values: [[String]]
    }

    private func documentedRows() throws -> [Row] {
        let section = try emulatorPage("Switches")
        return section.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            let cells = line.dropFirst().split(separator: "|", maxSplits: 1)
            let parts = String(cells[1]).components(separatedBy: "; ")
            let names = Self.quoted(cells[0])
            return Row(
                names: names,
                values: names.count > 1
                    ? parts.map { Self.quoted($0[...]) } : [Self.quoted(cells[1])])
        }
    }

    private static func quoted(_ text: Substring) -> [String] {
        text.matches(of: /`([^`]*)`/).map { String($0.output.1) }
    }

    private func switches() async throws -> JSON {
        try await (try EmulatorHarness()).control("switches")
    }

    /// The words that a switch takes, as the refusal of another one lists them.
    private static func values(of name: String) async throws -> [String] {
        do {
            let harness = try await EmulatorHarness()
            try await harness.control("switches", .object([JSON.Member(name, .null)]))
            Issue.record("\(name) takes null")
            return []
        } catch {
            let text = "\(error)"
            guard text.contains("one of ") else {
                return text.contains("true or false") ? ["true", "false"] : []
            }
            return text.matches(of: /'([^']*)'/).dropFirst().map { String($0.output.1) }
        }
    }

    private static func isDefault(_ word: String, _ value: JSON) -> Bool {
        word == (value.string ?? value.text)
    }
}

/// A section of docs/emulator.md, by its heading of the third level.
func emulatorPage(_ heading: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(contentsOf: root.appending(path: "docs/emulator.md"), encoding: .utf8)
    return try #require(
        text.components(separatedBy: "\n### ").first { $0.hasPrefix(heading + "\n") })
}
