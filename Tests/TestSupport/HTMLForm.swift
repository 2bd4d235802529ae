/// The form on one of the emulator's pages, as a browser would send it untouched.
package struct HTMLForm: Sendable {
    /// Where it goes.
    package let action: String
    /// What it sends: hidden inputs and checked radio buttons, in their order.
    package var fields: [(name: String, value: String)]

    /// Reads the first form of a page; nil if it has no form.
    package init?(_ page: some Collection<UInt8>) {
        let html = String(decoding: page, as: UTF8.self)
        guard let form = html.firstMatch(of: /<form method="post" action="([^"]*)">/) else {
            return nil
        }
        action = unescaped(form.output.1)
        fields = html.matches(
            of: /<input type="(hidden|radio)" name="([^"]*)" value="([^"]*)"( checked)?>/
        )
        .filter { $0.output.1 == "hidden" || $0.output.4 != nil }
        .map { (unescaped($0.output.2), unescaped($0.output.3)) }
    }

    /// The value of a field.
    package subscript(name: String) -> String? {
        get { fields.first { $0.name == name }?.value }
        set {
            fields.removeAll { $0.name == name }
            if let newValue { fields.append((name, newValue)) }
        }
    }
}

private func unescaped(_ text: Substring) -> String {
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
    return entities.reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
}
