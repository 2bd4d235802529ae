internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

/// The status page, for operators: no scripts, no external resources, with a layout for phones and
/// a dark theme.
struct StatusPage {
    private let status: ServerStatus
    private let issues: [ServerStatus.Issue]

    init(_ status: ServerStatus) { (self.status, issues) = (status, status.issues) }

    /// The whole document.
    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="refresh" content="60">
        <title>\(title)</title><style>\(Self.style)</style></head>
        <body><header><h1>siwa-server</h1><p>\(version) · \(status.at.rfc3339)</p></header>
        <main>\(problems)\(charts)\(tables)</main></body></html>

        """
    }

    private var title: String {
        issues.isEmpty
            ? "siwa-server: ok"
            : "siwa-server: \(issues.count) \(issues.count == 1 ? "problem" : "problems")"
    }

    private var problems: String {
        guard !issues.isEmpty else { return "<section class=\"ok\"><h2>No problems</h2></section>" }
        let items = issues.map {
            """
            <li><strong>\($0.sentence.escapedForHTML)</strong> \($0.remedy.escapedForHTML) \
            <a href="file://\($0.address.escapedForHTML)">\($0.address.escapedForHTML)</a></li>
            """
        }
        let advice = issues.count > 1 ? "<p>Begin with the first: it may cause the others.</p>" : ""
        return """
            <section class="wrong"><h2>Problems</h2>\(advice)<ul>\(items.joined())</ul></section>
            """
    }

    // MARK: Charts

    private var charts: String {
        chart(
            "Notifications", .init(.received, .delivered, .undelivered),
            "An event that is delivered again is counted again.")
            + chart("Revocations", .init(.requested, .revoked, .unrevoked), "")
    }

    /// What a chart shows: what came in, what was done, and what failed.
    private struct Kinds {
        let all: [HourlyActivity.Kind]

        init(
            _ came: HourlyActivity.Kind, _ done: HourlyActivity.Kind, _ failed: HourlyActivity.Kind
        ) { all = [came, done, failed] }

        static let classes = ["came", "done", "failed"]
    }

    /// A bar chart of the last 24 hours, with three bars for each hour.
    private func chart(_ name: String, _ kinds: Kinds, _ note: String) -> String {
        let hour = status.at.seconds / 3600
        var values = [[Int]](repeating: [0, 0, 0], count: 24)
        for activity in status.survey.activity {
            let index = 23 - (hour - activity.begin.seconds / 3600)
            guard values.indices.contains(index) else { continue }
            values[index] = kinds.all.map { activity.counts[$0] ?? 0 }
        }
        let totals = (0..<3).map { kind in values.reduce(0) { $0 + $1[kind] } }
        let words = zip(totals, kinds.all).map { "\($0) \($1.rawValue)" }
        guard totals != [0, 0, 0] else {
            return "<section><h2>\(name), last 24 hours</h2><p>None.</p></section>"
        }
        let highest = max(values.flatMap(\.self).max() ?? 0, 1)
        let bars = values.enumerated().map { Self.bars($1, at: $0, of: highest) }.joined()
        let legend = zip(words, Kinds.classes).map {
            "<span class=\"key \($1)-key\"></span>\($0)"
        }
        return """
            <section><h2>\(name), last 24 hours</h2>
            <svg viewBox="0 0 480 116" role="img" aria-label="\(words.joined(separator: ", "))">\
            \(bars)<line x1="0" y1="95.5" x2="480" y2="95.5"/>\(Self.hours(until: hour))\
            <text x="0" y="10">\(highest)</text></svg>
            <p>\(legend.joined(separator: " · ")), by the hour (UTC). \(note)</p></section>
            """
    }

    private static func bars(_ values: [Int], at hour: Int, of highest: Int) -> String {
        zip(values, Kinds.classes).enumerated().map { index, bar in
            guard bar.0 > 0 else { return "" }
            let height = max(bar.0 * 80 / highest, 2)
            return """
                <rect class="\(bar.1)" x="\(hour * 20 + 2 + index * 5)" y="\(95 - height)" \
                width="5" height="\(height)"/>
                """
        }.joined()
    }

    /// The hours of the axis, every fourth one.
    private static func hours(until last: Int) -> String {
        stride(from: 3, through: 23, by: 4).map { index in
            let hour = (last - 23 + index) % 24
            return "<text x=\"\(index * 20 + 10)\" y=\"112\" text-anchor=\"middle\">"
                + "\(hour):00</text>"
        }.joined()
    }

    // MARK: Tables

    private var tables: String {
        let facts = status.worst?.facts
        return table("Apple", (facts.map(apple) ?? []))
            + table(
                "Events",
                states(InboxState.allCases, counts?.inbox)
                    + waiting(counts?.eventAttempts, since: counts?.oldestPendingEvent))
            + table(
                "Revocations",
                states(RevocationJob.State.allCases, counts?.revocations)
                    + waiting(counts?.revocationAttempts, since: counts?.oldestPendingRevocation))
            + table("Stored tokens", tokens)
            + table("Servers", (facts.map(requests) ?? []) + servers)
    }

    private var counts: ServerCounts? { status.survey.counts }

    private typealias Rows = [(String, String)]

    private func apple(_ facts: ServerFacts) -> Rows {
        let age = facts.keySetAge.map { Duration.seconds($0).words(units: 1) + " old" }
        let secrets = facts.profiles.map { profile in
            let left = profile.secretExpiresAt.map { $0 - status.at } ?? .zero
            return (
                profile.name.isEmpty ? "client_secret" : "client_secret of \(profile.name)",
                left > .zero ? "valid for \(left.words(units: 1))" : "none"
            )
        }
        return [
            ("answer times", Self.words(facts.appleTimes)),
            ("last answer", Self.words(facts.lastAnswer)),
            ("last refusal of a client", Self.words(facts.lastRefusal)),
            ("Apple's keys", facts.isKeySetFixed ? "from a file" : age ?? "not fetched"),
        ] + secrets + facts.profiles.filter(\.isSignedElsewhere).map(Self.signer)
    }

    private static func signer(_ profile: ServerFacts.Profile) -> (String, String) {
        (
            profile.name.isEmpty ? "signer" : "signer of \(profile.name)",
            profile.signerFault == nil ? "signs" : "does not sign"
        )
    }

    private func requests(_ facts: ServerFacts) -> Rows {
        [("answered requests", Self.words(facts.requestTimes))]
    }

    private static func words(_ times: ServerFacts.Times?) -> String {
        guard let times else { return "none yet" }
        return """
            \(times.count) since the start; half of them \
            \(ServerStatus.words(times.medianMilliseconds)), 99 % \
            \(ServerStatus.words(times.p99Milliseconds))
            """
    }

    private static func words(_ answer: ServerFacts.Answer?) -> String {
        guard let answer else { return "none" }
        let profile = answer.profile.isEmpty ? "" : " (\(answer.profile))"
        return "\(answer.endpoint): \(answer.outcome)\(profile), \(answer.at.rfc3339)"
    }

    private var servers: Rows {
        status.servers.map { record in
            let age = max(status.at - record.heartbeatAt, .zero)
            return (
                record.server.host,
                "\(record.server.version), heartbeat \(age.words(units: 1)) ago"
            )
        }
    }

    /// How long pending work has waited, and until when it waits; no rows if none waits.
    private func waiting(_ attempts: ServerCounts.Attempts?, since age: Duration?) -> Rows {
        guard let attempts else { return [] }
        return [
            ("waiting", "for \((age ?? .zero).words(units: 1))"),
            ("next attempt", attempts.next.rfc3339),
            ("last one waits until", attempts.last.rfc3339),
        ]
    }

    /// The states that occur: zeros would crowd what matters.
    private func states<State: RawRepresentable<String> & Hashable>(
        _ states: [State], _ counts: [State: Int]?
    ) -> Rows {
        guard let counts else { return [("all", "unknown")] }
        let found = states.compactMap { state in
            counts[state].flatMap { $0 > 0 ? (state.rawValue, "\($0)") : nil }
        }
        return found.isEmpty ? [("all", "none")] : found
    }

    private var tokens: Rows {
        let last = counts?.lastValidation?.rfc3339 ?? "never"
        return (counts?.tokens ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }
            .flatMap { client, states in
                states.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                    ("\(client) \($0.key.rawValue)", "\($0.value)")
                }
            } + [
                ("last validation", last),
                (
                    "validation by siwa-server",
                    ServerStatus.words(status.worst?.facts?.validation)
                ),
            ]
    }

    private func table(_ name: String, _ rows: Rows) -> String {
        guard !rows.isEmpty else { return "" }
        let lines = rows.map {
            "<tr><th scope=\"row\">\($0.0.escapedForHTML)</th><td>\($0.1.escapedForHTML)</td></tr>"
        }
        return "<section><h2>\(name)</h2><table>\(lines.joined())</table></section>"
    }

    private static let style = """
        :root{color-scheme:light dark;--text:#1d1d1f;--back:#fff;--line:#d2d2d7;--soft:#6e6e73;\
        --came:#0066cc;--done:#248a3d;--failed:#d70015}\
        @media(prefers-color-scheme:dark){:root{--text:#f5f5f7;--back:#161617;--line:#424245;\
        --soft:#a1a1a6;--came:#2997ff;--done:#30d158;--failed:#ff6961}}\
        *{box-sizing:border-box}body{margin:0;padding:16px;background:var(--back);\
        color:var(--text);font:16px/1.5 system-ui,sans-serif}\
        header,main{max-width:960px;margin:0 auto}h1{font-size:20px;margin:0}\
        header p,section p{color:var(--soft);margin:0 0 12px}\
        main{display:grid;gap:16px;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr))}\
        section{border:1px solid var(--line);border-radius:12px;padding:12px 16px;min-width:0}\
        h2{font-size:16px;margin:0 0 8px}.wrong,.ok{grid-column:1/-1}\
        .wrong{border-color:var(--failed)}.wrong h2{color:var(--failed)}.ok h2{color:var(--done)}\
        ul{margin:0;padding-left:20px}li,th,td{overflow-wrap:anywhere}\
        table{width:100%;border-collapse:collapse}\
        th{text-align:left;font-weight:normal}td{text-align:right}\
        tr+tr>*{border-top:1px solid var(--line)}svg{width:100%;height:auto;display:block}\
        .came{fill:var(--came)}.done{fill:var(--done)}.failed{fill:var(--failed)}\
        line{stroke:var(--line)}text{fill:var(--soft);font-size:11px}\
        .key{display:inline-block;width:10px;height:10px;margin-right:4px}\
        .came-key{background:var(--came)}.done-key{background:var(--done)}\
        .failed-key{background:var(--failed)}a{color:var(--came)}
        """
}
