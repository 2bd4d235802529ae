import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

@testable import SIWAApplication
@testable import SIWACLI

/// What a batch on a vault does about records that other runs hold.
@Suite struct VaultLeaseTests {
    private let harness: CommandHarness

    init() async throws {
        harness = try await CommandHarness()
        harness.memory.with { $0.variables["SIWA_VAULT_URL"] = "sqlite:/siwa/vault.db" }
        #expect(await harness.run(["vault", "init", "-q"]).exitCode == 0)
        let lines = ["a", "b"].map {
            #"{"user_id":"\#($0)","refresh_token":"r-hush-\#($0)"}"# + "\n"
        }
        harness.memory.with { $0.input = Array(lines.joined().utf8) }
        #expect(await harness.run(["vault", "import", "-q"]).exitCode == 0)
    }

    private func user(_ name: String) -> VaultUser {
        VaultUser(ClientID(unchecked: "com.example.app"), UserID(unchecked: name))
    }

    @Test func `a run that finds only leased records is not successful`() async throws {
        let other = Lease(owner: "other", duration: .seconds(600))
        let held = try harness.vault.claim(VaultFilter(), limit: 9, for: other) {
            VaultClaimChange($0)
        }
        #expect(held.records.count == 2)
        let outcome = await harness.run(
            ["batch", "refresh", "--vault", "--json", "--metrics", "/tmp/m.prom"])
        #expect(outcome.exitCode == 75 && outcome.sent == 0, "\(outcome)")
        let lines = try outcome.errors.map { try JSON(text: $0) }
        #expect(lines.contains { $0["summary"]?["held"] == 2 }, "\(outcome)")
        #expect(lines.last?["error"]?["code"] == "items_held", "\(outcome)")
        let page = harness.memory.with {
            String(decoding: $0.files["/tmp/m.prom"]?.contents ?? [], as: UTF8.self)
        }
        #expect(page.contains(#"siwa_task_items{task="m",status="held"} 2"#), "\(page)")
        #expect(page.contains(#"siwa_task_last_success_timestamp_seconds{task="m"} 0"#), "\(page)")
    }

    @Test func `tokens that others only check are revoked`() async throws {
        _ = try harness.vault.claim(
            VaultFilter(), limit: 1, for: .checking("server", duration: .seconds(600))
        ) { VaultClaimChange($0) }
        let outcome = await harness.run(["batch", "revoke", "--vault", "--json"])
        #expect(outcome.exitCode == 0 && outcome.sent == 2, "\(outcome)")
        let lines = try outcome.errors.map { try JSON(text: $0) }
        #expect(lines.contains { $0["summary"]?["held"] == 0 }, "\(outcome)")
        #expect(try harness.vault.counts(of: nil) == [.revoked: 2])
    }

    @Test func `a run that found free records reports how many others hold`() async throws {
        let other = Lease(owner: "other", duration: .seconds(600))
        _ = try harness.vault.claim(VaultFilter(), limit: 1, for: other) { VaultClaimChange($0) }
        let outcome = await harness.run(
            ["batch", "refresh", "--vault", "--json", "--metrics", "/tmp/m.prom"])
        #expect(outcome.exitCode == 1 && outcome.sent == 1, "\(outcome)")
        let lines = try outcome.errors.map { try JSON(text: $0) }
        #expect(lines.contains { $0["summary"]?["held"] == 1 }, "\(outcome)")
    }

    @Test(.timeLimit(.minutes(1)))
    func `a lease with a wrong clock is taken over after three minutes`() async throws {
        harness.vault.strand(user("a"), leasedFor: .seconds(172_800))
        harness.vault.strand(user("b"), leasedFor: .seconds(172_800))
        async let outcome = harness.run(
            ["batch", "refresh", "--vault", "--lease", "1s", "--max-refused", "100"])
        try await eventually("the run waits") {
            harness.memory.with { $0.errors.contains { $0.contains("for 3 minutes") } }
        }
        #expect(harness.wire.sent == 0)
        harness.vault.advance(by: .seconds(181))
        let ended = await outcome
        #expect(ended.exitCode == 1 && ended.sent == 2, "\(ended)")
        #expect(
            ended.errors.contains {
                $0.contains("warning: token ")
                    && $0.contains(" and 1 more: the lease of another run")
            }, "\(ended)")
    }

    @Test(arguments: ["61m", "2h", "500ms"])
    func `a lease lasts at most an hour`(_ duration: String) async {
        let outcome = await harness.run(["batch", "refresh", "--vault", "--lease", duration])
        #expect(outcome.exitCode == 2 && outcome.sent == 0, "\(outcome)")
    }
}
