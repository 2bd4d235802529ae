import CommandTable
import Foundation
import Testing

@Test func dumpCompletions() throws {
    for s in Shell.allCases {
        try sampleTool.completions(for: s).write(
            toFile: "/tmp/w/siwa.\(s.rawValue)", atomically: true, encoding: .utf8)
    }
    for (n, s) in [
        (nil, "siwa"), ("revoke", "siwa-revoke"), ("public-key", "siwa-public-key"),
        ("config show", "siwa-config-show"),
    ] {
        try sampleTool.manual(for: n).write(
            toFile: "/tmp/w/\(s).1", atomically: true, encoding: .utf8)
    }
    print(sampleTool.faults())
}
