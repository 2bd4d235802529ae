import SIWAEmulator
import SIWAJOSE
import SIWATestSupport
import Testing

@testable import SIWAApplication
@testable import SIWACLI

/// `siwa doctor --online --report FILE`: what Apple answers, held against the emulator's switches.
@Suite struct EvidenceTests {
    /// Switches that the report can tell, each with its other value and what the report says then.
    static let rows: [(name: String, value: JSON, seen: String)] = [
        ("audience_array", "refused", "refused"), ("fractional_times", "refused", "refused"),
        ("missing_iat", "accepted", "accepted"),
        ("missing_client_secret", "invalid_request", "invalid_request"),
        ("missing_grant_type", "unsupported_grant_type", "unsupported_grant_type"),
        ("missing_code", "invalid_grant", "invalid_grant"),
        ("unknown_grant_type", "invalid_request", "invalid_request"),
        ("repeated_parameter", "accepted", "accepted"),
        ("missing_user_agent", "refused", "refused"),
        ("wrong_method", "invalid_request", "invalid_request"),
        ("order", "client_first", "invalid_client"), ("order", "malformed_first", "invalid_client"),
        ("revoke_content_type", "application/json", "application/json"),
        ("revoke_missing_token", "ignored", "ignored"),
        ("unregistered_redirect", "unauthorized_client", "unauthorized_client"),
        ("authorize_texts", "until_2023", "until_2023"), ("authorize_refusal", "200", "200"),
        ("unknown_scope", "ignored", "invalid_scope"),
        ("unknown_scope", "invalid_request", "invalid_request"),
        ("discovery_issuer", "https://account.apple.com", "https://account.apple.com"),
        ("keys_max_age", 60, "60"), ("keys_no_store", true, "true"),
        ("team_token", "in_window", "in_window"),
    ]

    @Test func `a server like the emulator confirms all facts that are tested`() async throws {
        let report = try await report()
        let facts = try facts(report)
        let contradicted = facts.filter { $0.value["verdict"] == "contradicted" }
        #expect(contradicted.isEmpty, "\(contradicted.keys)")
        for name in Set(Self.rows.map(\.name)) {
            #expect(facts[name]?["verdict"] == "confirmed", "\(name)")
        }
        for name in ["keys", "error_status", "revoke_garbage", "authorize_json", "order_malformed"]
        {
            #expect(facts[name]?["verdict"] == "confirmed", "\(name)")
        }
    }

    @Test(arguments: rows)
    func `a switch with another setting contradicts its own fact only`(
        _ row: (name: String, value: JSON, seen: String)
    ) async throws {
        let facts = try facts(
            try await report(switches: .object([JSON.Member(row.name, row.value)])))
        #expect(facts[row.name]?["apple"] == .string(row.seen))
        let isSeen = facts[row.name]?["verdict"] == "contradicted"
        #expect(isSeen || row.seen == facts[row.name]?["emulator"]?.string)
        let others = facts.filter { $0.key != row.name && $0.value["verdict"] == "contradicted" }
        // If the client_secret is examined first, a fault of the code is not reported.
        let allowed: Set =
            row.value == "client_first" ? ["order_malformed", "missing_code"] : []
        #expect(Set(others.keys).isSubset(of: allowed), "\(others.keys)")
    }

    @Test func `every switch of the emulator is tested or listed as untested`() async throws {
        let harness = try await CommandHarness()
        let switches = try #require(try await harness.emulator.control("switches").members)
        let facts = try facts(try await report())
        for name in switches.map(\.name) { #expect(facts[name] != nil, "\(name)") }
        for name in EvidenceFact.untouched {
            #expect(facts[name]?["verdict"] == "untouched", "\(name)")
            #expect(switches.contains { $0.name == name }, "\(name) is no switch")
        }
    }

    @Test func `the report neither names the client nor contains a secret`() async throws {
        let harness = try await CommandHarness()
        let outcome = await harness.run(
            ["doctor", "--online", "--report", "/tmp/report.json", "--profile", "web"])
        #expect(outcome.exitCode == 0, "\(outcome)")
        let text = try contents(harness)
        for name in ["com.example", "A1B2C3D4E5", "K1L2M3N4P5", "eyJ", "example.com"] {
            #expect(!text.contains(name), "\(name)")
        }
        #expect(text.contains("<client_id>") && text.contains("<redirect_uri>"))
        #expect(text.contains("\"openid_in_query\"") && text.contains("<secret>"))
        #expect(
            outcome.errors.contains {
                $0.contains("/tmp/report.json: of the emulator's assumptions, ")
                    && $0.contains(" 0 contradicted")
            }, "\(outcome.errors)")
    }

    @Test func `without a response, the facts are reported as untested`() async throws {
        let harness = try await CommandHarness()
        _ = try await harness.emulator.control(
            "faults", ["endpoint": "/auth/revoke", "cut": "no_answer", "count": 10])
        let outcome = await harness.run(["doctor", "--online", "--report", "/tmp/report.json"])
        #expect(outcome.exitCode == 0, "\(outcome)")
        let facts = try facts(try JSON(text: try contents(harness)))
        #expect(facts["revoke_garbage"]?["verdict"] == "untouched")
        #expect(facts["missing_code"]?["verdict"] == "confirmed")
    }

    @Test func `--report needs --online`() async throws {
        let outcome = await (try CommandHarness()).run(["doctor", "--report", "/tmp/report.json"])
        #expect(outcome.exitCode == 2 && outcome.sent == 0 && outcome.written.isEmpty)
    }

    private func report(switches: JSON = [:]) async throws -> JSON {
        let harness = try await CommandHarness()
        _ = try await harness.emulator.control("switches", switches)
        _ = await harness.run(["doctor", "--online", "--report", "/tmp/report.json"])
        return try JSON(text: try contents(harness))
    }

    private func contents(_ harness: CommandHarness) throws -> String {
        let file = try #require(harness.memory.with { $0.files["/tmp/report.json"] })
        return String(decoding: file.contents, as: UTF8.self)
    }

    private func facts(_ report: JSON) throws -> [String: JSON] {
        let facts = try #require(report["facts"]?.elements)
        let pairs = try facts.map { (try #require($0["fact"]?.string), $0) }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }
}
