/// The sections of docs/conformance.md that the table of checks writes: one for each check, with an
/// anchor by which reports name it.
package enum CataloguePage {
    /// The line before the sections.
    package static let begin = "<!-- checks: written from the table of checks -->"
    /// The line after the sections.
    package static let end = "<!-- end of the checks -->"

    private static let groups: [(letter: String, title: String)] = [
        ("T", "The identity token"), ("R", "The request"), ("W", "The web flow"), ("C", "Codes"),
        ("K", "Keys"), ("X", "Manners"), ("N", "Notifications"), ("D", "Deletion"),
    ]

    /// The sections, in Markdown.
    package static var text: String {
        groups.map { group in
            let checks = Catalogue.all.filter { $0.group == group.letter }
                .sorted { $0.id < $1.id }
            return "## \(group.letter): \(group.title)\n\n"
                + checks.map(section).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// `page` with its sections written anew; nil if a marker is missing.
    package static func rewritten(_ page: String) -> String? {
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.firstIndex(of: begin[...]),
            let last = lines.firstIndex(of: end[...]), first < last
        else { return nil }
        let head = lines[...first].joined(separator: "\n")
        let tail = lines[last...].joined(separator: "\n")
        return head + "\n\n" + text + "\n" + tail
    }

    private static func section(_ check: Check) -> String {
        var lines = [
            #"<a id="\#(check.slug)"></a>"#, "### \(check.id) `\(check.slug)`", "",
            "\(verdict(check)) \(check.effect)", "",
            "- **Sent:** \(check.guide.sent)", "- **Must happen:** \(check.guide.must)",
            "- **Usual mistake:** \(check.guide.mistake)", "- **Fix:** \(check.guide.fix)",
        ]
        let sources = check.cves + check.links.map { "<\($0)>" }
        if !sources.isEmpty { lines.append("- **Sources:** \(sources.joined(separator: ", "))") }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func verdict(_ check: Check) -> String {
        let parts = [
            check.severity.map { "**\($0.rawValue)** in `conform`" },
            check.vector.map { "`\($0.rawValue)` in the vectors" },
        ]
        return parts.compactMap(\.self).joined(separator: ", ") + "."
    }
}
