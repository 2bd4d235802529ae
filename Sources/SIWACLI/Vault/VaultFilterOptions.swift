internal import CommandTable
internal import Lifecycle

/// Which records a command is about, as it was typed.
struct VaultFilterOptions: Sendable {
    var states: [VaultState] = []

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        all.map { $0.rerooted(at: path) }
    }

    private static let all: [Parameter<Self>] = [
        .option(
            "state", \.states, value: "STATE", help: "Only records in this state; all unless set.")
    ]

    /// Of one client only when it was asked for: the settings name one for other reasons.
    func filter(_ session: Session) throws -> VaultFilter {
        let clientID: ClientID? =
            session.options.clientID == nil ? nil : try session.settings.identifier(.clientID)
        return VaultFilter(clientID: clientID, states: states)
    }
}
