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
        guard !issues.isEmpty else { return nothingWrong }
        let items = issues.map { issue in
            let row = isShown(issue) ? " <a href=\"#\(Self.anchor(issue.row))\">Its row</a>." : ""
            return """
                <li><strong>\(issue.sentence.escapedForHTML)</strong> \
                \(issue.remedy.escapedForHTML)\(row) <a href="file://\(issue.address.escapedForHTML)">\
                \(issue.address.escapedForHTML)</a></li>
                """
        }
        let advice =
            issues.count > 1
            ? "<p>Begin with the first, and its row below: it may cause the others.</p>" : ""
        return """
            <section class="wrong"><h2>Problems</h2>\(advice)<ul>\(items.joined())</ul></section>
            """
    }

    /// Only what was tried is well.
    private var nothingWrong: String {
        let unknowns = status.unknowns
        guard !unknowns.isEmpty else {
            return "<section class=\"ok\"><h2>No problems</h2></section>"
        }
        return """
            <section class="ok"><h2>No problems are known</h2><p>Not yet known: \
            \(unknowns.joined(separator: ", ").escapedForHTML).</p></section>
            """
    }

    // MARK: Charts

    private var charts: String {
        chart("Notifications", .init(.received, .delivered, .undelivered), failed: "given up")
            + chart("Revocations", .init(.requested, .revoked, .unrevoked), failed: "not revoked")
    }

    /// What the totals of a chart do not say: why more was delivered than received, and what has
    /// failed and is tried again.
    private func notes(_ kinds: Kinds, _ totals: [Int]) -> String {
        guard kinds.all[0] == .received else { return "" }
        var notes: [String] = []
        let more = totals[1] - totals[0]
        if more > 0 {
            notes.append(
                "\(more) more \(more == 1 ? "was" : "were") delivered than received: sent again "
                    + "because an answer was lost, received before, or siwa's own events, which "
                    + "Apple does not send.")
        }
        if let failing { notes.append("\(failing).") }
        return notes.joined(separator: " ")
    }

    /// The events that failed and are sent again; nil without any.
    private var failing: String? {
        guard let failing = counts?.failingEvents else { return nil }
        let isMore = failing.count >= ServerCounts.Failing.most
        return "\(isMore ? "more than " : "")\(failing.count) "
            + "\(failing.count == 1 ? "waits" : "wait") after "
            + "\(failing.attempts == 1 ? "a failed attempt" : "up to \(failing.attempts) failed attempts")"
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
    private func chart(_ name: String, _ kinds: Kinds, failed: String) -> String {
        let hour = status.at.seconds / 3600
        var values = [[Int]](repeating: [0, 0, 0], count: 24)
        for activity in status.survey.activity {
            let index = 23 - (hour - activity.begin.seconds / 3600)
            guard values.indices.contains(index) else { continue }
            values[index] = kinds.all.map { activity.counts[$0] ?? 0 }
        }
        let totals = (0..<3).map { kind in values.reduce(0) { $0 + $1[kind] } }
        let note = notes(kinds, totals)
        guard totals != [0, 0, 0] else {
            let none = status.survey.counts == nil ? "Not known." : "None."
            return "<section><h2>\(name), last 24 hours</h2><p>\(none) \(note)</p></section>"
        }
        let names = [kinds.all[0].rawValue, kinds.all[1].rawValue, failed]
        // A zero of what failed would crowd what matters.
        let words = zip(totals, names).enumerated().compactMap { index, word in
            index < 2 || word.0 > 0 ? "\(word.0) \(word.1)" : nil
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
                states(InboxState.allCases, counts?.inbox) { .events($0) }
                    + (failing.map { [Entry("failing", $0)] } ?? [])
                    + waiting(
                        counts?.eventAttempts, since: counts?.oldestPendingEvent, .waitingEvents))
            + table(
                "Revocations",
                states(RevocationJob.State.allCases, counts?.revocations) { .revocations($0) }
                    + waiting(
                        counts?.revocationAttempts, since: counts?.oldestPendingRevocation,
                        .waitingRevocations))
            + table("Stored tokens", tokens)
            + table("Servers", (facts.map(requests) ?? []) + servers)
    }

    private var counts: ServerCounts? { status.survey.counts }

    private typealias Row = ServerStatus.Row

    /// A row of a table.
    private struct Entry {
        let name: String
        let value: String
        /// The row that problems refer to; nil if none does.
        let row: Row?

        init(_ name: String, _ value: String, _ row: Row? = nil) {
            (self.name, self.value, self.row) = (name, value, row)
        }
    }

    private typealias Rows = [Entry]

    /// Whether the page shows the row of a problem: of other servers than the worst it does not.
    private func isShown(_ issue: ServerStatus.Issue) -> Bool {
        issue.host == nil || issue.host == status.worst?.server.host
    }

    /// The name of a row in links.
    private static func anchor(_ row: Row) -> String {
        switch row {
        case .outage: "outage"
        case .lastRefusal: "last-refusal"
        case .clock: "clock"
        case .secret(let profile): "secret-\(profile.escapedForHTML)"
        case .signer(let profile): "signer-\(profile.escapedForHTML)"
        case .keySet: "key-set"
        case .events(let state): "events-\(state.rawValue)"
        case .waitingEvents: "waiting-events"
        case .revocations(let state): "revocations-\(state.rawValue)"
        case .waitingRevocations: "waiting-revocations"
        case .unfinished: "unfinished"
        case .unsavedTokens: "unsaved-tokens"
        case .validation: "validation"
        case .vaultCheck: "vault-check"
        case .servers: "servers"
        }
    }

    private func apple(_ facts: ServerFacts) -> Rows {
        let age = facts.keySetAge.map { Duration.seconds($0).words(units: 1) + " old" }
        let secrets = facts.profiles.map { profile in
            let left = profile.secretExpiresAt.map { $0 - status.at } ?? .zero
            return Entry(
                profile.name.isEmpty ? "client_secret" : "client_secret of \(profile.name)",
                left > .zero
                    ? "valid for \(left.words(units: 1))"
                    : profile.hasSecret(at: status.at) ? "minted when needed" : "none",
                .secret(profile: profile.name))
        }
        let clock = facts.clockSkew.map {
            $0 == 0 ? "in sync with Apple's" : Duration.seconds($0).clockDifference
        }
        let outages = status.outages(facts).reversed().map {
            Entry("no answer", Self.words($0), .outage)
        }
        return outages + [
            Entry("answer times", Self.words(facts.appleTimes)),
            Entry("last answer", Self.words(facts.lastAnswer)),
            Entry("last refusal of a client", Self.words(facts.lastRefusal), .lastRefusal),
            Entry("this machine's clock", clock ?? "not compared", .clock),
            Entry(
                "Apple's keys", facts.isKeySetFixed ? "from a file" : age ?? "not fetched",
                .keySet),
        ] + secrets + facts.profiles.filter(\.isSignedElsewhere).map(Self.signer)
    }

    private static func signer(_ profile: ServerFacts.Profile) -> Entry {
        Entry(
            profile.name.isEmpty ? "signer" : "signer of \(profile.name)",
            profile.signerFault == nil ? "signs" : "does not sign",
            .signer(profile: profile.name))
    }

    private func requests(_ facts: ServerFacts) -> Rows {
        [Entry("answered requests", Self.words(facts.requestTimes))]
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
        guard !status.servers.isEmpty else { return [Entry("all", "none is running", .servers)] }
        return status.servers.enumerated().map { index, record in
            let age = max(status.at - record.heartbeatAt, .zero)
            let fault = record.facts?.databaseFault == nil ? "" : ", without the database"
            return Entry(
                record.server.host,
                "\(record.server.version), heartbeat \(age.words(units: 1)) ago\(fault)",
                index == 0 ? .servers : nil)
        }
    }

    /// How long pending work has waited, and until when it waits; no rows if none waits.
    private func waiting(
        _ attempts: ServerCounts.Attempts?, since age: Duration?, _ row: Row
    ) -> Rows {
        let oldest = age.map { [Entry("waiting", "for \($0.words(units: 1))", row)] } ?? []
        guard let attempts else { return oldest }
        return oldest + [
            Entry("next attempt", attempts.next.rfc3339),
            Entry("last one waits until", attempts.last.rfc3339),
        ]
    }

    /// The states that occur: zeros would crowd what matters.
    private func states<State: RawRepresentable<String> & Hashable>(
        _ states: [State], _ counts: [State: Int]?, row: (State) -> Row
    ) -> Rows {
        guard let counts else { return [Entry("all", "unknown")] }
        let found = states.compactMap { state in
            counts[state].flatMap { $0 > 0 ? Entry(state.rawValue, "\($0)", row(state)) : nil }
        }
        return found.isEmpty ? [Entry("all", "none")] : found
    }

    private var tokens: Rows {
        let facts = status.worst?.facts
        let stored = (counts?.tokens ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }
            .flatMap { client, states in
                states.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                    Entry("\(client) \($0.key.rawValue)", "\($0.value)")
                }
            }
        let unfinished = counts?.oldestUnfinished.map {
            [Entry("left revoking", "for \($0.words(units: 1))", .unfinished)]
        }
        let unsaved = (facts?.unsavedTokens ?? 0) > 0 ? facts?.unsavedTokens : nil
        return stored + (unfinished ?? [])
            + (unsaved.map { [Entry("not stored yet", "\($0)", .unsavedTokens)] } ?? []) + [
                Entry("last validation", status.lastValidation),
                Entry(
                    "validation by siwa-server", ServerStatus.words(facts?.validation),
                    .validation),
                Entry("last vault check", status.lastVaultCheck, .vaultCheck),
            ]
    }

    private func table(_ name: String, _ rows: Rows) -> String {
        guard !rows.isEmpty else { return "" }
        let wrong = issues.filter(isShown).map(\.row)
        let lines = rows.map { entry in
            let isWrong = entry.row.map(wrong.contains) ?? false
            let id = entry.row.map { " id=\"\(Self.anchor($0))\"" } ?? ""
            let mark = entry.row != nil && entry.row == wrong.first ? " ← look here first" : ""
            return """
                <tr\(id)\(isWrong ? " class=\"look\"" : "")>\
                <th scope="row">\(entry.name.escapedForHTML)</th>\
                <td>\(entry.value.escapedForHTML)\(mark)</td></tr>
                """
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
        .failed-key{background:var(--failed)}a{color:var(--came)}\
        .look>*{color:var(--failed);font-weight:bold}
        """
}
