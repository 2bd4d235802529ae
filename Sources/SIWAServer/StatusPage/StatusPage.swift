internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

/// The status page, for operators: no scripts, no external resources, with a layout for phones and
/// a dark theme.
struct StatusPage {
    private let report: StatusReport

    init(_ report: StatusReport) { self.report = report }

    /// The whole document.
    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="refresh" content="60">
        <title>\(title)</title><style>\(Self.style)</style></head>
        <body><header><h1>siwa-server</h1><p>\(version) · \(report.at.rfc3339)</p></header>
        <main>\(issues)\(chart("Notifications", .received, .delivered, .undelivered))\
        \(chart("Revocations", .requested, .revoked, .unrevoked))\(tables)</main></body></html>

        """
    }

    private var title: String {
        let count = report.issues.count
        return count == 0
            ? "siwa-server: ok" : "siwa-server: \(count) \(count == 1 ? "problem" : "problems")"
    }

    private var issues: String {
        guard !report.issues.isEmpty else {
            return "<section class=\"ok\"><h2>No problems</h2></section>"
        }
        let items = report.issues.map {
            "<li><strong>\($0.fault.escapedForHTML)</strong> \($0.remedy.escapedForHTML)</li>"
        }
        return "<section class=\"wrong\"><h2>Problems</h2><ul>\(items.joined())</ul></section>"
    }

    // MARK: Charts

    /// A bar chart of the last 24 hours: received, completed and failed, for each hour.
    private func chart(
        _ name: String, _ came: HourlyActivity.Kind, _ done: HourlyActivity.Kind,
        _ failed: HourlyActivity.Kind
    ) -> String {
        let hour = report.at.seconds / 3600
        var values = [[Int]](repeating: [0, 0, 0], count: 24)
        for activity in report.activity {
            let index = 23 - (hour - activity.begin.seconds / 3600)
            guard values.indices.contains(index) else { continue }
            values[index] = [came, done, failed].map { activity.counts[$0] ?? 0 }
        }
        let highest = max(values.flatMap(\.self).max() ?? 0, 1)
        let bars = values.enumerated().map { Self.bars($1, at: $0, of: highest) }.joined()
        let totals = (0..<3).map { kind in values.reduce(0) { $0 + $1[kind] } }
        let words =
            "\(totals[0]) \(came.rawValue), \(totals[1]) \(done.rawValue), "
            + "\(totals[2]) \(failed.rawValue)"
        return """
            <section><h2>\(name), last 24 hours</h2>
            <svg viewBox="0 0 480 96" role="img" aria-label="\(words)">\(bars)
            <line x1="0" y1="95.5" x2="480" y2="95.5"/></svg><p>\(words)</p></section>
            """
    }

    private static func bars(_ values: [Int], at hour: Int, of highest: Int) -> String {
        zip(values, ["came", "done", "failed"]).enumerated().map { index, bar in
            guard bar.0 > 0 else { return "" }
            let height = max(bar.0 * 90 / highest, 2)
            return """
                <rect class="\(bar.1)" x="\(hour * 20 + 2 + index * 5)" y="\(95 - height)" \
                width="5" height="\(height)"/>
                """
        }.joined()
    }

    // MARK: Tables

    private var tables: String {
        let age = report.isKeySetFixed ? "from a file" : report.keySetAge?.words(units: 1) ?? "none"
        let secrets = report.secretExpiries.map {
            let left = $0.expiresAt - report.at
            return (
                $0.profile.isEmpty ? "client_secret" : "client_secret of \($0.profile)",
                left > .zero ? "valid for \(left.words(units: 1))" : "expired"
            )
        }
        return table("Events", states(InboxState.allCases, report.counts?.inbox) + events)
            + table(
                "Revocations",
                states(RevocationJob.State.allCases, report.counts?.revocations) + revocations)
            + table("Keys", [("Apple's keys", age)] + secrets + signers)
            + table("Stored tokens", tokens)
    }

    private var signers: [(String, String)] {
        report.signers.map {
            (
                $0.profile.isEmpty ? "signer" : "signer of \($0.profile)",
                $0.fault == nil ? "signs" : "does not sign"
            )
        }
    }

    private var events: [(String, String)] {
        waiting(report.counts?.eventAttempts, since: report.counts?.oldestPendingEvent)
    }

    private var revocations: [(String, String)] {
        waiting(report.counts?.revocationAttempts, since: report.counts?.oldestPendingRevocation)
    }

    /// How long pending work has waited, and until when it waits.
    private func waiting(
        _ attempts: ServerCounts.Attempts?, since age: Duration?
    ) -> [(String, String)] {
        guard let attempts else { return [] }
        return [
            ("waiting", "for \((age ?? .zero).words(units: 1))"),
            ("next attempt", attempts.next.rfc3339),
            ("last one waits until", attempts.last.rfc3339),
        ]
    }

    private func states<State: RawRepresentable<String> & Hashable>(
        _ states: [State], _ counts: [State: Int]?
    ) -> [(String, String)] {
        states.map { state in (state.rawValue, counts.map { "\($0[state] ?? 0)" } ?? "unknown") }
    }

    private var tokens: [(String, String)] {
        (report.counts?.tokens ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }
            .flatMap { client, states in
                states.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                    ("\(client) \($0.key.rawValue)", "\($0.value)")
                }
            }
    }

    private func table(_ name: String, _ rows: [(String, String)]) -> String {
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
        line{stroke:var(--line)}
        """
}
