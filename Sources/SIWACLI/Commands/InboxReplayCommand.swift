internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWAServerRecords

/// `siwa inbox replay`: delivers events again.
struct InboxReplayCommand: Command {
    static let name = "inbox replay"
    static let abstract = "Have siwa-server deliver events again."
    static let discussion = """
        The events become pending, their attempts counted from zero; the application gets them \
        under the same webhook-id. Events in the state none had no address to be delivered to: they \
        are refused unless the configuration has server.deliver.url. Events that are being \
        delivered, and events that 'siwa inbox forget' erased, are not changed. Prints replayed, \
        their number, and jti, their ids; the exit code is 1 if one of the named events was not \
        replayed.
        """
    static let examples = [
        Example("siwa inbox replay 8e9f0c1a", "Deliver an event again."),
        Example("siwa inbox replay --state dead", "Deliver all that was given up."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand("JTI", \.events, help: "The events."),
            .option("state", \.state, value: "STATE", help: "All events in this state."),
            VaultArgument.option(\.vault),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var events: [String] = []
    var state: InboxState?
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try checkCombination()
        try global.output.checkPrinted(among: ["replayed", "jti"])
        let session = try Session(global, vault: vault, in: world)
        let store = try session.serverStore()
        try checkAddress(session, store)
        let selection: InboxSelection = state.map { .state($0) } ?? .events(events.eventIDs)
        let replayed = try world.ending.completing { try store.replay(selection) }
        let ids = replayed.map(\.rawValue).sorted()
        try session.report(
            Report(
                ["replayed": .integer(ids.count), "jti": .array(ids.map { .string($0) })],
                of: Deed(
                    "\(ids.count) events are pending again",
                    hint: "'siwa inbox list' shows them")))
        let others = events.filter { !ids.contains($0) }
        guard others.isEmpty else {
            throw Diagnosis.unchanged(
                others, "they are unknown, erased, unverified or being delivered: siwa inbox show")
        }
    }

    /// Without an address, events of the state none would be pending for ever.
    private func checkAddress(_ session: Session, _ store: ServerStore) throws {
        guard session.settings.file?.server?["deliver"]?["url"] == nil else { return }
        let ids = try events.eventIDs.filter { id in
            try store.inboxEvent(id).entries.contains { $0.state == .none }
        }
        guard state == InboxState.none || !ids.isEmpty else { return }
        throw Diagnosis(
            .nowhereToDeliver,
            "events in the state none cannot be delivered: the configuration has no "
                + "server.deliver.url",
            hints: [
                "add server.deliver.url to the configuration, and restart siwa-server",
                "or name siwa-server's configuration with --config",
            ], exitCode: .settings)
    }

    private func checkCombination() throws(UsageError.Problem) {
        guard events.isEmpty != (state == nil) else {
            throw UsageError.Problem.misuse(
                "inbox replay needs either events or --state",
                hint: "name the events, or give --state dead")
        }
        guard state?.isVerified != false else {
            throw UsageError.Problem.misuse(
                "unverified and rejected events cannot be delivered",
                hint: "give the state of verified events, such as --state dead")
        }
    }
}
