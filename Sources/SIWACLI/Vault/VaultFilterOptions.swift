internal import SIWAApplication
internal import SIWACommandTable
internal import SIWALifecycle
internal import SIWAVaultRecords

/// The options that select records.
struct VaultFilterOptions: Sendable {
    var states: [VaultState] = []

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        all.map { $0.rerooted(at: path) }
    }

    private static let all: [Parameter<Self>] = [
        .option(
            "state", \.states, value: "STATE", help: "Only records in this state; all unless set.")
    ]

    /// Limited to one client only if the option is given: the settings have a client for other
    /// purposes.
    func filter(_ session: Session) throws -> VaultFilter {
        let clientID: ClientID? =
            session.settings.selection.overrides[.clientID] == nil
            ? nil : try session.settings.identifier(.clientID)
        return VaultFilter(clientID: clientID, states: states)
    }
}
