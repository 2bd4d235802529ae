internal import SIWAApplication
internal import SIWACommandTable
internal import SIWALifecycle
internal import SIWAServerRecords

/// `siwa-server token remove`: removes an API token.
struct TokenRemoveCommand: Command {
    static let name = "token remove"
    static let abstract = "Remove an API token; servers refuse it within 5 seconds."
    static let parameters: [Parameter<Self>] =
        [.operand("NAME", \.$tokenName, help: "The name of the token.")]
        + ConfigurationOption.parameters(at: \.configuration)

    @Required var tokenName: String
    var configuration = ConfigurationOption()

    func run(in world: ServerWorld) async throws {
        guard try world.tokenStore(configuration).removeAPIToken(tokenName) else {
            throw Diagnosis(
                .noToken, "not found: the token '\(printable(tokenName))'",
                hints: ["'siwa-server token list' shows all tokens"], exitCode: .no)
        }
    }
}
