internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The details of a request: every check, what `siwa` finds, the fields, the claims, the answer.
struct RequestDetailView {
    private let record: RequestRecord
    private let details: RequestDetails?
    private let state: ConsoleState

    init(_ record: RequestRecord, _ details: RequestDetails?, _ state: ConsoleState) {
        (self.record, self.details, self.state) = (record, details, state)
    }

    var html: HTML {
        guard let details else {
            return """
                <div class="detail"><p class="empty">The details of this request are gone: \
                they are kept for the latest \(String(RequestLog.detailsLimit)).</p></div>
                """
        }
        return """
            <div class="detail">
            <div>
            \(checks)
            \(findings(details))
            \(answer(details))
            </div>
            <div>
            \(parameters(details))
            \(ClientSecretView(details)?.html ?? "")
            \(command(details))
            </div>
            </div>
            """
    }

    private var checks: HTML {
        guard !record.checks.isEmpty else {
            return #"<h4>Checks</h4><p class="empty">No check was made. \#(record.verdict)</p>"#
        }
        let items = record.checks.map { check -> HTML in
            """
            <li class="\(check.outcome.rawValue)">\
            <span class="mark" role="img" aria-label="\(check.outcome.rawValue)">\
            \(check.outcome.mark)</span> <b>\(check.name)</b> <span>\(check.seen)</span></li>
            """
        }
        return "<h4>Checks, in Apple’s order</h4><ol class=\"checks\">\(items)</ol>"
    }

    private func findings(_ details: RequestDetails) -> HTML {
        let found = RequestFindings(details, state).all
        guard !found.isEmpty else {
            guard record.error == Refusal.Code.invalidClient.rawValue else { return "" }
            return """
                <h4>What siwa says</h4><p class="empty">Nothing is wrong with the client_secret \
                itself, as far as it can be seen.</p>
                """
        }
        let items = found.map { finding -> HTML in
            """
            <li class="finding \(finding.severity.rawValue)">\
            <span class="badge \(finding.severity.rawValue)">\(finding.severity.rawValue)</span> \
            <span class="caption">\(finding.confidence.rawValue)</span>
            <p>\(finding.seen)</p><p class="advice">→ \(finding.advice)</p></li>
            """
        }
        return "<h4>What siwa says</h4><ul class=\"findings\">\(items)</ul>"
    }

    private func parameters(_ details: RequestDetails) -> HTML {
        let shown = details.parameters.map { ShownParameter($0) }
        let fields = details.fields.map { ShownParameter($0) }
        return """
            <h4>Parameters</h4>
            \(shown.isEmpty ? #"<p class="empty">none</p>"# as HTML : table(shown))
            <details><summary>Header fields (\(String(fields.count)))</summary>\
            \(table(fields))</details>
            """
    }

    private func table(_ rows: [ShownParameter]) -> HTML {
        let items = rows.map { row -> HTML in
            let value: HTML =
                row.value.map { "\($0)" } ?? """
                    <span class="masked" title="SHA-256 begins with \(row.fingerprint)">\
                    <span aria-hidden="true">••••••</span> \(row.fingerprint)</span>
                    """
            return "<div><dt>\(row.name)</dt><dd>\(value)</dd></div>"
        }
        return "<dl class=\"fields\">\(items)</dl>"
    }

    private func answer(_ details: RequestDetails) -> HTML {
        let fault: HTML = record.fault.map { #"<p class="note warn">Fault: \#($0)</p>"# } ?? ""
        let body = AnswerText(details.answer).lines
        return """
            <h4>Answer</h4>
            \(fault)
            <pre class="answer"><b>\(String(record.status))</b>\
            \(body.isEmpty ? "" : "\n" + body)</pre>
            <p class="caption">X-Apple-I-Request-ID: \(record.requestID)</p>
            """
    }

    private func command(_ details: RequestDetails) -> HTML {
        """
        <div class="copy"><h4>As curl</h4>\
        <button type="button" class="quiet" data-copy hidden>Copy</button></div>
        <pre class="command">\(CurlCommand(record, details).text)</pre>
        """
    }
}

extension RequestCheck.Outcome {
    fileprivate var mark: String {
        switch self {
        case .passed: "✓"
        case .failed: "✕"
        case .noted: "!"
        }
    }
}

/// Apple's answer with every token masked.
private struct AnswerText {
    private let body: [UInt8]

    init(_ body: [UInt8]) { self.body = body }

    private static let secret: Set<String> = [
        "access_token", "refresh_token", "id_token", "code",
    ]

    /// One member per line.
    var lines: String {
        guard let members = (try? JSON(body))?.members else { return "" }
        let lines = members.map { member -> String in
            let value =
                Self.secret.contains(member.name)
                ? "•••••• \(SecretText(member.value.string ?? "").fingerprint)"
                : member.value.text
            return "  \(JSON.string(member.name).text): \(value)"
        }
        return "{\n\(lines.joined(separator: ",\n"))\n}"
    }
}
