internal import SIWALifecycle

/// The changes that were made here or by control requests.
enum HistoryPanel {
    private static let limit = 12

    static func html(_ state: ConsoleState) -> HTML {
        let numbers = state.history.numbers.reversed().prefix(limit)
        guard !numbers.isEmpty else { return #"<p class="empty">Nothing was changed yet.</p>"# }
        let items = numbers.compactMap { state.history[$0] }.map { record -> HTML in
            """
            <li><span>\(record.at.element) <b>\(record.name)</b> \
            <span class="caption">\(record.summary)\
            \(record.isFromConsole ? "" : " · by a program")</span>\
            \(record.error.map { #" <span class="badge error">\#($0)</span>"# } ?? "")</span></li>
            """
        }
        return "<ul class=\"lines\">\(items)</ul>"
    }
}
