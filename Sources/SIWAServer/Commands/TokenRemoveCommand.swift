internal import CommandTable
internal import Lifecycle
internal import SIWACLI
internal import ServerRecords

/// `siwa-server token remove`: removes a token of the API.
struct TokenRemoveCommand: Command {
    static let name = "token remove"
    static let abstract = "Remove a token of the API; servers refuse it within 5 seconds."
    static let parameters: [Parameter<Self>] =
        [.operand("NAME", \.$tokenName, help: "The name of the token.")]
        + ConfigurationOption.parameters(at: \.configuration)

    @Required var tokenName: String
    var configuration = ConfigurationOption()

    func run(in world: ServerWorld) async throws {
        guard try world.tokenStore(configuration).removeAPIToken(tokenName) else {
            throw Diagnosis(
                "no_token", "there is no token '\(printable(tokenName))'",
                hints: ["siwa-server token list shows all of them"], exitCode: .no)
        }
    }
}
