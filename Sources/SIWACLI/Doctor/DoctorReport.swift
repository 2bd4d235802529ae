internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle

/// The result of `siwa doctor`: every check, and the likeliest cause.
struct DoctorReport: Sendable {
    let lines: [CheckLine]
    /// The likeliest cause; if no check failed, the next thing to check.
    let cause: Cause

    struct Cause: Sendable {
        let seen: String
        let advice: String
        var finding: Finding?
    }

    /// - Parameters:
    ///   - offline: the findings without the network.
    ///   - online: the findings with the network; empty with `--offline`.
    ///   - answer: what Apple said of the secret.
    init(offline: [CheckLine], online: [CheckLine], answer: ProbeCheck.Answer) {
        // Apple's answer is more reliable than file names.
        let offline = answer == .accepted ? offline.map(\.outweighed) : offline
        lines = offline + online
        let plain = { (lines: [CheckLine]) in
            lines.filter { $0.status == .failed && $0.finding == nil }.map {
                Cause(seen: $0.seen, advice: $0.advice ?? "")
            }
        }
        let findings = lines.filter { $0.status == .failed }.compactMap(\.finding).ranked.map {
            Cause(seen: $0.seen, advice: $0.advice, finding: $0)
        }
        cause =
            (plain(offline) + findings + plain(online)).first
            ?? lines.first(where: ServerCheck.isRefusal).map {
                Cause(seen: $0.seen, advice: $0.advice ?? "")
            } ?? Self.left(answer)
    }

    /// - Parameter cause: the next thing to check if no check failed.
    init(_ lines: [CheckLine], otherwise cause: Cause) {
        self.lines = lines
        self.cause =
            lines.first { $0.status == .failed }.map {
                Cause(seen: $0.seen, advice: $0.advice ?? "")
            } ?? cause
    }

    var failed: [CheckLine] { lines.filter { $0.status == .failed } }

    /// The next thing to check. If the secret is valid, the request is.
    private static func left(_ answer: ProbeCheck.Answer) -> Cause {
        let seen: String
        switch answer {
        case .accepted: seen = "Apple accepts the secret"
        case .unclear:
            seen =
                "no fault was found, and Apple's response does not show whether the secret is good"
        case .notAsked:
            seen = "the offline checks found no fault; 'siwa doctor --online' asks Apple"
        case .outage:
            return Cause(
                seen: "no fault was found here, and Apple does not answer as it should",
                advice: """
                    look at developer.apple.com/system-status; if what answered is not Apple, look for a \
                    proxy or a firewall on the way; then run this again
                    """)
        }
        let finding = Finding(
            .requestForm, .note, .possible, seen: seen,
            advice: """
                if your own client still gets invalid_client, its request is wrong: send \
                client_id (the secret's sub), client_secret, grant_type and the code or token in \
                the body, as application/x-www-form-urlencoded: not as JSON, not as multipart, not \
                in the URL, not as HTTP Basic. Or the app went to another team: Apple then refuses \
                the codes and tokens of this one, and accepts its secret for 60 days
                """)
        return Cause(seen: finding.seen, advice: finding.advice, finding: finding)
    }

    /// The same report, with the files and commands that a person can use.
    func shown(in words: ServiceWords) -> DoctorReport {
        DoctorReport(
            lines.map { $0.shown(in: words) },
            cause: Cause(
                seen: words.shown(cause.seen),
                advice: words.missingCopy(cause.seen) ?? words.shown(cause.advice),
                finding: cause.finding.map { $0.rewritten(words.shown) }))
    }

    private init(_ lines: [CheckLine], cause: Cause) { (self.lines, self.cause) = (lines, cause) }

    func rendered(on terminal: Terminal) -> Report {
        Report(
            [
                "checks": .array(lines.map(\.json)),
                "verdict": .string(failed.isEmpty ? "passed" : "failed"), "cause": causeJSON,
            ], text: SecretText(text(on: terminal)))
    }

    private var causeJSON: JSON {
        if let finding = cause.finding { return finding.json }
        return [
            "code": .null, "severity": failed.isEmpty ? "note" : "error", "confidence": "certain",
            "seen": .string(cause.seen), "advice": .string(cause.advice),
        ]
    }

    /// The error of the command; nil if no check failed.
    var failure: Diagnosis? {
        guard !failed.isEmpty else { return nil }
        let names = failed.map(\.name).unique.joined(separator: ", ")
        return .negative(
            .checksFailed, "\(failed.count) of \(lines.count) checks failed: \(names)",
            hints: ["\(cause.seen): \(cause.advice)"])
    }

    /// The checks, for people.
    func checkLines(on terminal: Terminal) -> [String] {
        let width = lines.map(\.name.count).max() ?? 0
        return lines.map { $0.text(width: width, on: terminal) }
    }

    private func text(on terminal: Terminal) -> String {
        let head = failed.isEmpty ? "" : "most likely cause: "
        let conclusion = ["\(head)\(cause.seen)", "→ \(cause.advice)"].flatMap {
            printable($0, limit: 1000).wrapped(to: terminal.width ?? .max)
        }
        return (checkLines(on: terminal) + [""] + conclusion).joined(separator: "\n")
    }
}
