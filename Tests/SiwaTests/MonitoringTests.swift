import Foundation
import TestSupport
import Testing

/// docs/monitoring and deploy/systemd, judged by the programs that read them.
@Suite struct MonitoringTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardized.path()

    @Test(.enabled(if: Executable.installed("promtool") != nil, "needs promtool"))
    func `the alerts are raised as their tests say`() async throws {
        let promtool = try #require(Executable.installed("promtool"))
        let folder = "\(Self.root)/docs/monitoring"
        let checked = try await promtool.run("check", "rules", "\(folder)/siwa-jobs.rules.yml")
        #expect(checked.exitCode == 0, "\(checked)")
        let tested = try await promtool.run("test", "rules", "\(folder)/siwa-jobs.test.yml")
        #expect(tested.exitCode == 0, "\(tested)")
    }

    static let units = [
        "siwa-secret@.service", "siwa-secret@.timer", "siwa-validate.service",
        "siwa-validate.timer", "siwa-vault-check.service", "siwa-vault-check.timer",
        "siwa-failed@.service",
    ]

    @Test(
        .enabled(if: Executable.installed("systemd-analyze") != nil, "needs systemd"),
        arguments: units)
    func `systemd accepts a unit, and finds little exposure`(_ name: String) async throws {
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
                    .replacingOccurrences(of: "/etc/siwa/on-failure", with: siwa))
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
