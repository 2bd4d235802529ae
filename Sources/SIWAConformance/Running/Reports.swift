package import SIWAJOSE

/// The results of a run, for programs and for people.
package struct ConformReport: Sendable {
    package let results: [CheckResult]
    /// The `sub` of every user of the run.
    package let users: [String]

    package init(results: [CheckResult], users: [String]) {
        (self.results, self.users) = (results, users)
    }

    /// The results and their counts.
    package var json: JSON {
        [
            "results": .array(results.map(\.json)),
            "summary": .object(
                CheckResult.Result.allCases.map { JSON.Member($0.rawValue, .integer(count($0))) }),
            "users": .array(users.map(JSON.string)),
        ]
    }

    /// How many checks have a result.
    package func count(_ result: CheckResult.Result) -> Int {
        results.count { $0.result == result }
    }

    /// Whether a check of that severity or a worse one failed.
    package func hasFailed(_ limit: Check.Severity) -> Bool {
        results.contains { $0.result == .failed && $0.severity <= limit }
    }

    /// What failed, the worst first, with what an attacker gains; then the counts.
    package var summary: String {
        var lines: [String] = []
        let failed = results.filter { $0.result == .failed || $0.result == .advice }
            .sorted { $0.severity < $1.severity }
        for result in failed {
            let check = result.check
            lines.append("")
            lines.append(
                "\(result.severity.rawValue): \(check.id) \(check.slug): \(result.detail)")
            for variant in result.variants where variant.isWrong {
                lines.append("  \(variant.comment): \(variant.outcome)")
            }
            lines.append("  \(result.adviceReason ?? check.effect)")
            lines.append("  see docs/conformance#\(check.slug)")
        }
        let counts = CheckResult.Result.allCases.map { "\(count($0)) \($0.rawValue)" }
        lines += ["", counts.joined(separator: " · ")]
        return lines.joined(separator: "\n") + "\n"
    }

    /// JUnit's XML, as CI systems read it.
    package var junit: String {
        let counts =
            #"tests="\#(results.count)" failures="\#(count(.failed))" errors="0" "#
            + #"skipped="\#(results.count { Self.isSkipped($0.result) })""#
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#, "<testsuites>",
            #"  <testsuite name="siwa-emulator conform" \#(counts)>"#,
        ]
        for result in results { lines += Self.lines(result) }
        return (lines + ["  </testsuite>", "</testsuites>"]).joined(separator: "\n") + "\n"
    }

    private static func isSkipped(_ result: CheckResult.Result) -> Bool {
        result == .skipped || result == .inconclusive
    }

    private static func lines(_ result: CheckResult) -> [String] {
        let name = "\(result.check.id) \(result.check.slug)"
        let start =
            #"    <testcase classname="\#(result.flow ?? "backend")" name="\#(name)""#
        let detail = escaped(result.detail)
        switch result.result {
        case .held, .advice: return [start + "/>"]
        case .skipped, .inconclusive:
            return [start + ">", #"      <skipped message="\#(detail)"/>"#, "    </testcase>"]
        case .failed:
            let body = escaped(
                result.variants.filter(\.isWrong).map { "\($0.comment): \($0.outcome)" }
                    .joined(separator: "\n") + "\n" + result.check.effect)
            return [
                start + ">",
                #"      <failure type="\#(result.severity.rawValue)" message="\#(detail)">\#(body)</failure>"#,
                "    </testcase>",
            ]
        }
    }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\n": "&#10;"
            case _ where scalar.value < 0x20 || (0xFFFE...0xFFFF).contains(scalar.value): "?"
            default: String(scalar).escapedForHTML
            }
        }.joined()
    }
}
