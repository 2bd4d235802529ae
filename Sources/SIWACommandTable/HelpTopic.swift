/// A subject that `help` explains besides the commands, such as `help errors`, and that has a manual
/// page of its own.
package struct HelpTopic: Sendable {
    /// A term of the subject, such as an error code.
    package struct Entry: Codable, Hashable, Sendable {
        /// The term as it is typed: `siwa help errors TERM`.
        package let term: String
        /// What the list says about it, in at most a few words; nil for the explanation itself.
        package let summary: String?
        /// The explanation, one paragraph each.
        package let paragraphs: [String]

        /// Explains `term`.
        package init(_ term: String, summary: String? = nil, _ paragraphs: [String]) {
            (self.term, self.summary, self.paragraphs) = (term, summary, paragraphs)
        }
    }

    /// Entries under a heading.
    package struct Group: Codable, Hashable, Sendable {
        /// The heading.
        package let title: String
        /// The entries.
        package let entries: [Entry]

        /// Puts `entries` under a heading.
        package init(_ title: String, _ entries: [Entry]) {
            (self.title, self.entries) = (title, entries)
        }
    }

    /// The word after `help`.
    package let name: String
    /// What an entry is, as in `siwa help errors CODE`.
    let termName: String
    /// The name of its manual page, and the section of the manual.
    let page: (name: String, section: Int)
    /// What it explains, in one sentence.
    package let abstract: String
    /// What all entries have in common.
    let discussion: String
    /// Makes the entries; called only when they are printed.
    private let makeGroups: @Sendable () -> [Group]

    /// A topic of a tool.
    package init(
        _ name: String, _ termName: String, page: (name: String, section: Int),
        _ abstract: String, discussion: String, groups: @escaping @Sendable () -> [Group]
    ) {
        (self.name, self.termName, self.page) = (name, termName, page)
        (self.abstract, self.discussion) = (abstract, discussion)
        makeGroups = groups
    }

    /// The entries.
    package var groups: [Group] { makeGroups() }

    /// As a word that completes a command line.
    var definition: Definition { Definition(name, abstract) }
}

extension Tool {
    /// The help of a topic, or of one of its terms; nil if the words name none.
    ///
    /// - Throws: ``UsageError`` if the topic does not have the term.
    func topicHelp(_ words: [String]) throws(UsageError) -> String? {
        guard let topic = topics.first(where: { $0.name == words.first }), words.count <= 2 else {
            return nil
        }
        let page = HelpPage(tool: outline)
        guard words.count == 2 else { return page.topic(topic) }
        let entries = topic.groups.flatMap(\.entries)
        guard let entry = entries.first(where: { $0.term == words[1] }) else {
            let near = suggestions(for: words[1], among: entries.map(\.term))
            throw error(
                .misuse(
                    message: "\(quotedName(words[1]) ?? "this") is not explained there",
                    hints: near.map { "did you mean '\($0)'?" }
                        + ["'\(name) help \(topic.name)' lists what is"]))
        }
        return page.entry(entry)
    }

    /// The manual page of a topic; nil if there is no such topic.
    func topicPage(_ name: String?) -> ToolDocument? {
        topics.first { $0.name == name }.map { ManualPage(tool: outline).topic($0) }
    }
}

extension HelpPage {
    /// The list of a topic's terms.
    func topic(_ topic: HelpTopic) -> String {
        render(
            [
                usage("help \(topic.name) [\(topic.termName)]"),
                TextLayout.wrapped(topic.abstract), discussion(topic.discussion),
            ]
                + topic.groups.map { group in
                    section(
                        group.title,
                        group.entries.map {
                            Definition($0.term, $0.summary ?? $0.paragraphs.first ?? "")
                        })
                })
    }

    /// The explanation of a term.
    func entry(_ entry: HelpTopic.Entry) -> String {
        render([[entry.term]] + entry.paragraphs.map { TextLayout.wrapped($0, indent: 2) })
    }
}

extension ManualPage {
    /// The page of a topic.
    func topic(_ topic: HelpTopic) -> ToolDocument {
        let groups = topic.groups.flatMap { group in
            section(group.title.uppercased(), group.entries.map(\.manualItem))
        }
        return render(
            topic.page.name, topic.abstract,
            [description(topic.abstract, topic.discussion), groups, seeAlso([tool.name])],
            section: topic.page.section)
    }
}

extension HelpTopic.Entry {
    fileprivate var manualItem: (String, String) {
        (Roff.bold(term), paragraphs.joined(separator: " "))
    }
}
