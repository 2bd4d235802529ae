import SIWAJOSE
import SIWALifecycle
import Testing

@testable import SIWAServer

/// Lines that anyone outside can cause.
@Suite struct LineLimitsTests {
    private let kind: LineLimits.Kind = [.init("of", "request"), .init("status", 401)]

    @Test func `the first lines of each kind are written, and the others are counted in one line`()
        throws
    {
        let (lines, now) = (Mutable([String]()), Mutable(Duration.zero))
        let log = ServerLog(now: { NumericDate(0) }, elapsed: { now.value }) { line in
            lines.value.append(line)
        }
        for number in 0..<66_000 {
            log(
                ServiceEvent(.warning, "request", [.init("number", .integer(number))]),
                limitedAs: kind)
        }
        log(ServiceEvent(.warning, "other"), limitedAs: [.init("of", "other")])
        log(.info, "notification")
        #expect(lines.value.count == 22)
        log.writeOmitted(at: .seconds(59))
        #expect(lines.value.count == 22)
        log.writeOmitted(at: .seconds(60))
        #expect(lines.value.count == 23)
        let line = try JSON(text: try #require(lines.value.last))
        #expect(line["event"] == "lines_omitted" && line["of"] == "request")
        #expect(line["status"] == 401 && line["count"] == 65_980)
        now.value = .seconds(61)
        log(ServiceEvent(.warning, "request"), limitedAs: kind)
        #expect(lines.value.count == 24)
        log.writeOmitted(at: nil)
        #expect(lines.value.count == 24)
    }
}
