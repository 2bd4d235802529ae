internal import CommandTable
internal import ServerRecords

/// The options of the commands about one event that siwa-server received.
struct InboxEventOptions: Sendable {
    @Required var event: String
    var vault: VaultArgument?

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        let options: [Parameter<Self>] = [
            .operand("JTI", \.$event, help: "The event."), VaultArgument.option(\.vault),
        ]
        return options.map { $0.rerooted(at: path) }
    }

    /// The id of the event.
    ///
    /// - Throws: ``Diagnosis`` if the text cannot be one, so that there is no such event.
    func id() throws(Diagnosis) -> EventID {
        guard let id = EventID(event) else { throw Diagnosis.noEvent(event) }
        return id
    }
}
