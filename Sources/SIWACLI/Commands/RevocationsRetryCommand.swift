internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWAServerRecords

/// `siwa revocations retry`: makes siwa-server try a revocation now.
struct RevocationsRetryCommand: Command {
    static let name = "revocations retry"
    static let abstract = "Have siwa-server try a revocation now."
    static let discussion = """
        A pending revocation is tried now; a dead one starts again, for another 30 days. Prints the \
        request as 'siwa revocations list --json' does. One that is revoked or unknown cannot be \
        tried again: its tokens are erased.
        """
    static let examples = [
        Example(
            "siwa revocations retry 0f1e2d3c4b5a69788796a5b4c3d2e1f0",
            "Try again after the key was replaced.")
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand("ID", \.$id, help: "The revocation."),
            VaultArgument.option(\.vault),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var id: String
    var vault: VaultArgument?

    func run(in world: World) async throws {
        let session = try Session(global, vault: vault, in: world)
        let store = try session.serverStore()
        guard let status = try world.ending.completing({ try store.retry(revocation: id) }) else {
            throw Diagnosis.negative(
                .noRevocation, "not found: the revocation '\(id)'",
                hints: ["'siwa revocations list' shows all revocations"])
        }
        try session.report(
            Report(
                .object(status.members),
                of: Deed(
                    "the revocation is tried now",
                    hint: "'siwa revocations list' shows its state")))
        guard status.state == .pending else {
            throw Diagnosis.negative(
                .unchanged, "the revocation has ended: \(status.state.rawValue)",
                hints: ["to revoke the user's tokens again: siwa revoke --user"])
        }
    }
}
