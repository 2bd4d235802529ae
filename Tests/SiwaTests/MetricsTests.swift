import Foundation
import SIWAJOSE
import SIWATestSupport
import Testing

/// `--metrics` as Debian's Prometheus packages read it.
@Suite struct MetricsTests {
    private let apple: LocalApple
    private let folder: TemporaryFolder

    init() async throws {
        apple = try await LocalApple()
        folder = try TemporaryFolder()
        chmod(folder.path, 0o755)
    }

    /// Runs jobs that succeed and jobs that fail, each with a file of its own.
    private func runJobs() async throws {
        let secret = ["secret", "--lifetime", "90d", "--out", apple.folder.path("secret")]
        try await run(secret, as: "siwa-secret", exitCode: 0)
        let inspection = ["inspect", "@\(apple.folder.path("secret"))", "--expires-within", "14d"]
        try await run(inspection, as: "siwa-inspect", exitCode: 0)
        let vault = ["SIWA_VAULT_URL": "sqlite:\(apple.folder.path("vault.db"))"]
        #expect(try await apple.siwa(["vault", "init"], environment: vault).exitCode == 0)
        let stored = try await apple.siwa(
            ["exchange", "--code", "-", "--store"], input: try await apple.code(),
            environment: vault)
        #expect(stored.exitCode == 0, "\(stored)")
        try await run(["vault", "check"], as: "siwa-vault-check", exitCode: 0, environment: vault)
        let refresh = ["batch", "refresh", "--vault"]
        try await run(refresh, as: "siwa-validate", exitCode: 0, environment: vault)
        try await run(["secret", "--key", "/nowhere.p8"], as: "siwa-broken", exitCode: 3)
        let closed = ["refresh", "--token", "r", "--base-url", "http://127.0.0.1:9"]
        try await run(closed + ["--max-attempts", "1"], as: "siwa-offline", exitCode: 75)
    }

    private func run(
        _ arguments: [String], as task: String, exitCode: CInt,
        environment: [String: String] = [:]
    ) async throws {
        let metrics = ["--metrics", folder.path("\(task).prom")]
        let result = try await apple.siwa(arguments + metrics, environment: environment)
        #expect(result.exitCode == exitCode, "\(task): \(result)")
    }

    @Test(
        .enabled(
            if: Executable.installed("promtool") != nil
                && Executable.installed("prometheus-node-exporter") != nil,
            "needs Debian's prometheus and prometheus-node-exporter: make test-monitoring"))
    func `the node exporter reads the files of all jobs, and promtool accepts them`() async throws {
        try await runJobs()
        let page = try await scrape()
        let samples = page.split(separator: "\n").filter { $0.hasPrefix("siwa_") }
        for (task, code) in [
            ("siwa-secret", 0), ("siwa-inspect", 0), ("siwa-vault-check", 0),
            ("siwa-validate", 0), ("siwa-broken", 3), ("siwa-offline", 75),
        ] {
            #expect(samples.contains("siwa_task_exit_code{task=\"\(task)\"} \(code)"), "\(page)")
        }
        let expiry = samples.filter { $0.hasPrefix("siwa_client_secret_expires_at_seconds{") }
        #expect(expiry.count == 2, "\(page)")
        let tokens = #"siwa_vault_tokens{client_id="com.example.app",state="active","#
        #expect(samples.contains { $0.hasPrefix(tokens) && $0.hasSuffix(" 1") }, "\(page)")
        let done = #"siwa_task_items{status="done",task="siwa-validate"} 1"#
        #expect(samples.contains { $0 == done }, "\(page)")
        #expect(page.contains("\nnode_textfile_scrape_error 0\n"), "\(page)")

        // The exporter's own metrics are not checked.
        let own = page.split(separator: "\n").filter { $0.contains("siwa_") }
        let promtool = try #require(Executable.installed("promtool"))
        let checked = try await promtool.run(
            .init(["check", "metrics"], input: .text(own.joined(separator: "\n") + "\n")))
        #expect(checked.exitCode == 0, "\(checked)")
        #expect(checked.errors.isEmpty, "\(checked)")
    }

    /// What Prometheus would get: the page of a node exporter that reads the folder.
    private func scrape() async throws -> String {
        let exporter = try #require(Executable.installed("prometheus-node-exporter")).start(
            .init(
                [
                    "--collector.disable-defaults", "--collector.textfile",
                    "--collector.textfile.directory=\(folder.path)",
                    "--web.listen-address=127.0.0.1:0",
                ], limit: .seconds(300)))
        defer { exporter.signal(SIGTERM) }
        var address: String?
        try await eventually("the exporter listens") {
            let log = try exporter.errorsSoFar()
            guard
                let line = log.split(separator: "\n").first(where: { $0.contains("Listening on") })
            else { return false }
            address = line.components(separatedBy: "address=").last?
                .trimmingCharacters(in: .whitespaces)
            return true
        }
        let curl = try #require(Executable.installed("curl"))
        let page = try await curl.run("-sS", "http://\(try #require(address))/metrics")
        #expect(page.exitCode == 0, "\(page)")
        return page.output
    }

    @Test func `a reader never sees an incomplete file`() async throws {
        let path = folder.path("siwa-secret.prom")
        let call = ["secret", "--metrics", path, "--print", "kind"]
        #expect(try await apple.siwa(call).exitCode == 0)
        let length = try folder.contents("siwa-secret.prom").count
        for _ in 0..<12 {
            let siwa = try apple.start(call)
            try await Task.sleep(for: .microseconds(.random(in: 0..<40_000)))
            siwa.signal(SIGKILL)
            _ = try await siwa.result()
            // The duration may have a digit more.
            #expect(abs(try folder.contents("siwa-secret.prom").count - length) < 4)
        }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o644)
    }
}
