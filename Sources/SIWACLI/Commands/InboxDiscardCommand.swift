internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWAServerRecords

/// `siwa inbox discard`: cancels the delivery of an event.
struct InboxDiscardCommand: Command {
    static let name = "inbox discard"
    static let abstract = "Cancel the delivery of an event."
    static let discussion = """
        A pending or dead event is no longer delivered, and no longer holds back later events of its \
        user. The vault has already changed, when the event was received. 'siwa inbox replay' \
        undoes it.
        """
    static let examples = [
        Example("siwa inbox discard 8e9f0c1a", "Give up an event that the application refuses.")
    ]
    static let parameters: [Parameter<Self>] =
        InboxEventOptions.parameters(at: \.selected) + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var selected = InboxEventOptions()

    func run(in world: World) async throws {
        try global.output.checkPrinted(among: ["discarded", "jti"])
        let session = try Session(global, vault: selected.vault, in: world)
        let store = try session.serverStore()
        let id = try selected.id()
        let discarded = try world.ending.completing { try store.discard([id]) }
        guard !discarded.isEmpty else {
            guard !(try store.inboxEvent(id).isEmpty) else {
                throw Diagnosis.noEvent(selected.event)
            }
            throw Diagnosis.unchanged(
                [selected.event], "only pending and dead events can be discarded")
        }
        try session.report(
            Report(
                ["discarded": true, "jti": .string(selected.event)],
                of: Deed("the event was discarded", hint: "'siwa inbox show' confirms it")))
    }
}
