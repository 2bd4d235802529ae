internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAServerRecords

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

extension Diagnosis {
    /// The error if a given event is not in the inbox.
    static func noEvent(_ id: String) -> Diagnosis {
        negative(
            .noEvent, "the inbox has no event '\(id)'",
            hints: ["'siwa inbox list' shows the events"])
    }

    /// The error if some of the given events were not changed.
    static func unchanged(_ ids: [String], _ hint: String) -> Diagnosis {
        negative(
            .unchanged,
            "\(ids.count) \(ids.count == 1 ? "event" : "events") did not change: "
                + ids.prefix(20).joined(separator: ", "), hints: [hint])
    }
}

extension [String] {
    /// The ids of events; a text that cannot be an id matches no event.
    var eventIDs: [EventID] { compactMap { EventID($0) } }
}
