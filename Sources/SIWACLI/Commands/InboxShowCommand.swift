internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWAServerRecords

/// `siwa inbox show`: one event that siwa-server received.
struct InboxShowCommand: Command {
    static let name = "inbox show"
    static let abstract = "Show an event that siwa-server received."
    static let discussion = """
        Prints what 'siwa inbox list' shows of the event, why its last delivery failed or what it \
        waits for (last_error), and what is delivered (event), or the payload that cannot be verified yet \
        (payload). It is null after 'siwa inbox forget'.
        """
    static let examples = [
        Example("siwa inbox show 8e9f0c1a", "Show what is delivered, and why it failed.")
    ]
    static let parameters: [Parameter<Self>] =
        InboxEventOptions.parameters(at: \.selected) + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var selected = InboxEventOptions()

    func run(in world: World) async throws {
        let session = try Session(global, vault: selected.vault, in: world)
        let store = try session.serverStore()
        let id = try selected.id()
        let page = try store.inboxEvent(id)
        if let damaged = page.damaged.first { throw damaged }
        guard let entry = page.entries.first else { throw Diagnosis.noEvent(selected.event) }
        try session.report(Report(.object(entry.members + entry.detailMembers)))
    }
}
