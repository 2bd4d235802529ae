extension Answer {
    /// Runs an endpoint that people see: what is wrong is said on a page, and nobody is sent on.
    static func onPage(_ endpoint: () throws -> Answer) -> Answer {
        Answer {
            do {
                return try endpoint()
            } catch let refusal as Refusal {
                return Answer(
                    refusal.document.page(status: 400), error: refusal.code.rawValue,
                    failing: refusal.check)
            }
        }
    }
}

extension Refusal {
    /// The error as Apple's page names it, and the reason, which Apple keeps to itself.
    fileprivate var document: Document {
        let description: HTML = description.map { "<p>\($0)</p>" } ?? ""
        return Document(
            title: code.rawValue,
            content: """
                \(description)
                <h2>Why</h2>
                <p>\(check.line)</p>
                """)
    }
}
