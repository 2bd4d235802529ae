internal import SIWALifecycle

/// One request on one line of the console.
struct RequestRow {
    let record: RequestRecord
    /// What the shown requests contain.
    let search: String
    /// The details of the request, if the page shows them without scripts.
    var detail: HTML?

    var html: HTML {
        let id = "request-\(record.number)"
        let isOpen = detail != nil
        let open = isOpen ? [] : [("open", String(record.number))]
        let href = ConsoleView.address(open, search: search) + (isOpen ? "#requests" : "#\(id)")
        return """
            <li id="\(id)" class="request \(record.outcome)" data-number="\(String(record.number))">\
            <a class="row" href="\(href)" aria-expanded="\(isOpen ? "true" : "false")">\
            \(record.at.element)\
            <span class="endpoint"><span class="method">\(record.method)</span> \(record.path)\
            \(grant)</span>\
            <span class="client">\(record.clientID ?? "")</span>\
            <span class="result"><span class="status">\(status)</span> \
            <span class="verdict">\(verdict)</span></span></a>\(detail ?? "")</li>
            """
    }

    private var grant: HTML {
        record.grantType.map { #" <span class="grant">\#($0)</span>"# } ?? ""
    }

    private var status: String {
        [String(record.status), record.error].compactMap { $0 }.joined(separator: " ")
    }

    private var verdict: String {
        [record.fault.map { "fault: \($0)" }, record.verdict].compactMap { $0 }
            .joined(separator: " – ")
    }
}

extension RequestRecord {
    /// The outcome, as a class of the style sheet.
    fileprivate var outcome: String {
        if fault != nil { return "fault" }
        return isRefused ? "refused" : "ok"
    }
}
