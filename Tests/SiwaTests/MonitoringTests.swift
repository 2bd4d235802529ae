import Foundation
import SIWAJOSE
import SIWATestSupport
import Testing

/// docs/monitoring and deploy/systemd, checked by the programs that read them.
@Suite struct MonitoringTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardized.path()

    private static let folder = "\(root)/docs/monitoring"

    private static func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }

    /// The tests of the rules `name`.
    private static func tests(of name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasPrefix(name) && $0.hasSuffix(".test.yml") }.sorted()
    }

    @Test(
        .enabled(if: Executable.installed("promtool") != nil, "needs promtool"),
        arguments: ["siwa-jobs", "siwa-server"])
    func `the alerts fire as their tests expect`(_ name: String) async throws {
        let promtool = try #require(Executable.installed("promtool"))
        let rules = "\(Self.folder)/\(name).rules.yml"
        let checked = try await promtool.run("check", "rules", rules)
        #expect(checked.exitCode == 0, "\(checked)")
        let tests = try Self.tests(of: name).map { "\(Self.folder)/\($0)" }
        let tested = try await promtool.run(.init(["test", "rules"] + tests))
        #expect(tested.exitCode == 0, "\(tested)")
    }

    @Test(arguments: ["siwa-jobs", "siwa-server"])
    func `every alert has a test and a line in the documented list`(_ name: String) throws {
        let alerts = try Self.text("\(name).rules.yml").split(separator: "\n").compactMap {
            $0.components(separatedBy: "- alert: ").dropFirst().first
        }
        let tests = try Self.tests(of: name).map(Self.text).joined()
        let page = try Self.text("README.md")
        #expect(alerts.count >= 6)
        for alert in alerts {
            #expect(tests.contains("alertname: \(alert)\n"), "\(alert) has no test")
            #expect(page.contains("`\(alert)`"), "\(alert) is not in the list")
        }
    }

    /// The metrics of siwa-server that are documented, each with its labels.
    private static func documented() throws -> [String: Set<String>] {
        let page = try text("README.md").components(separatedBy: "## siwa's jobs")[0]
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `siwa_") }
        return Dictionary(
            rows.map { row in
                let words = row.dropFirst(3).prefix { $0 != "`" }.split { "{,}".contains($0) }
                return (String(words[0]), Set(words.dropFirst().map(String.init)))
            }, uniquingKeysWith: { $0.union($1) })
    }

    @Test func `siwa-server has the documented metrics with these labels`() async throws {
        let fixture = try await ServerFixture()
        _ = try await fixture.vault.store([1])
        let server = try await fixture.serve(
            fixture.listeners + [.init("validate", ["every": "5m", "rate": "20/s"])])
        #expect(
            try await fixture.notify("email-disabled", at: try server.notificationURL)
                == ["200": 1])
        try await eventually("the token is validated") {
            try await server.metric("siwa_last_validation_timestamp_seconds") != nil
        }
        try await eventually("Apple's keys are fetched") {
            try await server.metric("siwa_key_set_age_seconds") != nil
        }
        let page = try await server.call("metrics", "GET", "/metrics").body
        let lines = page.split(separator: "\n")
        let announced = lines.filter { $0.hasPrefix("# TYPE ") }.map {
            String($0.split(separator: " ")[2])
        }
        let documented = try Self.documented()
        #expect(Set(announced) == Set(documented.keys) && announced.count == documented.count)
        var seen: Set<String> = []
        for line in lines where !line.hasPrefix("#") {
            let name = try #require(Self.metrics(in: line).first)
            let labels = line.components(separatedBy: "=\"").dropLast().compactMap {
                $0.split { !$0.isLetter && $0 != "_" }.last.map(String.init)
            }
            #expect(Set(labels).subtracting(["le"]) == documented[name], "\(line)")
            seen.insert(name)
        }
        // There are no revocations yet, and each state of them is counted all the same.
        #expect(seen == Set(announced), "\(Set(announced).subtracting(seen))")
        guard let promtool = Executable.installed("promtool") else { return }
        let checked = try await promtool.run(.init(["check", "metrics"], input: .text(page)))
        #expect(checked.exitCode == 0 && checked.errors.isEmpty, "\(checked)")
    }

    @Test func `alerts and dashboard of siwa-server use only existing metrics`() throws {
        let known = Set(try Self.documented().keys)
        #expect(!known.isEmpty)
        let rules = Self.metrics(in: try Self.text("siwa-server.rules.yml"))
        let panels = try Self.panels().flatMap { panel in
            let metrics = panel.flatMap(Self.metrics)
            #expect(!metrics.isEmpty || panel == [#"sum(up{job="siwa-server"})"#], "\(panel)")
            return metrics
        }
        #expect(known.isSuperset(of: rules), "\(Set(rules).subtracting(known))")
        #expect(known == Set(panels), "\(known.symmetricDifference(panels))")
    }

    /// The queries of each panel.
    private static func panels() throws -> [[String]] {
        let data = Data(try text("siwa-server.dashboard.json").utf8)
        let dashboard = try #require(
            try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        return try panels.map { panel in
            let targets = try #require(panel["targets"] as? [[String: Any]])
            return try targets.map { try #require($0["expr"] as? String) }
        }
    }

    /// The metrics that a text names, without what a histogram adds to its name.
    private static func metrics(in text: some StringProtocol) -> [String] {
        text.split { !$0.isLetter && $0 != "_" }.filter { $0.hasPrefix("siwa_") }.map { word in
            for suffix in ["_bucket", "_sum", "_count"] where word.hasSuffix(suffix) {
                return String(word.dropLast(suffix.count))
            }
            return String(word)
        }
    }

    static let units = [
        "siwa-secret@.service", "siwa-secret@.timer", "siwa-validate.service",
        "siwa-validate.timer", "siwa-vault-check.service", "siwa-vault-check.timer",
        "siwa-failed@.service", "siwa-server.service", "siwa-server.socket",
    ]

    @Test(
        .enabled(if: Executable.installed("systemd-analyze") != nil, "needs systemd"),
        arguments: units)
    func `systemd accepts the units and rates their exposure as low`(_ name: String) async throws {
        let analyze = try #require(Executable.installed("systemd-analyze"))
        let folder = try TemporaryFolder()
        let siwa = try Executable.product("siwa").path
        for unit in Self.units {
            let text = try String(
                contentsOfFile: "\(Self.root)/deploy/systemd/\(unit)", encoding: .utf8)
            // The programs as they are on this machine.
            try folder.write(
                unit,
                text.replacingOccurrences(of: "/usr/bin/siwa ", with: "\(siwa) ")
                    .replacingOccurrences(of: "/usr/bin/siwa-server ", with: "\(siwa) "))
        }
        let path = folder.path(name.replacingOccurrences(of: "@.", with: "@web."))
        let environment = ["SYSTEMD_UNIT_PATH": "\(folder.path):"]
        let verified = try await analyze.run(
            "verify", "--man=no", path, environment: environment)
        #expect(verified.exitCode == 0 && verified.errors.isEmpty, "\(verified)")
        guard name.hasSuffix(".service") else { return }
        let security = try await analyze.run(
            "security", "--offline=true", "--threshold=20", folder.path(name),
            environment: environment)
        #expect(security.exitCode == 0, "\(security)")
    }
}
