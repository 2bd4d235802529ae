import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWAApplication

@Suite struct MetricFamilyTests {
    @Test func `labels are escaped`() {
        let family = MetricFamily("m", .gauge, "A gauge.", [.init([("a", "b\"\\\n")], 1)])
        #expect(family.lines.last == #"m{a="b\"\\\n"} 1"#)
    }

    @Test func `labels are escaped by scalars, not by characters`() {
        // An accent and a carriage return are one character with what they follow or precede.
        let family = MetricFamily("m", .gauge, "A gauge.", [.init([("a", "\"\u{301}\r\n")], 1)])
        #expect(
            family.lines.last?.unicodeScalars.elementsEqual(
                "m{a=\"\\\"\u{301}\r\\n\"} 1".unicodeScalars) == true)
    }

    private static let names = [
        "app", "", #"a "quoted" name"#, #"back\slash\n"#, "two\nlines", "ünï😀\u{7F}\u{1}",
        "\"\u{301}",
        #"a",profile="b"#,
    ]

    /// The metrics of a run with this task and profile, after those of `old`.
    private func page(_ name: String, expiresAt: Int?, after old: String = "") -> String {
        var findings = TaskMetrics.Findings()
        findings.profile = name
        findings.secretExpiresAt = expiresAt.map { NumericDate($0) }
        var page = TaskMetricsPage(
            task: name, exitCode: 3, endedAt: NumericDate(2), duration: .seconds(1),
            findings: findings)
        page.keepLasting(of: old)
        return page.text
    }

    @Test(arguments: names) func `a job keeps the metrics of its last run`(_ name: String) {
        let old = page(name, expiresAt: 7)
        #expect(page(name, expiresAt: nil, after: old) == old)
        #expect(page(name + "2", expiresAt: nil, after: old).contains("expires") == false)
    }

    @Test(
        .enabled(if: Executable.installed("promtool") != nil, "needs Debian's prometheus"),
        arguments: names)
    func `Prometheus reads the labels of a job`(_ name: String) async throws {
        let promtool = try #require(Executable.installed("promtool"))
        let checked = try await promtool.run(
            .init(["check", "metrics"], input: .text(page(name, expiresAt: 7))))
        #expect(checked.exitCode == 0 && checked.errors.isEmpty, "\(checked)")
    }
}
