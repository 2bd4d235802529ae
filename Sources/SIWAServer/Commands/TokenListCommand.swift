internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

/// `siwa-server token list`: lists the API tokens.
struct TokenListCommand: Command {
    static let name = "token list"
    static let abstract = "List the API tokens as JSON lines."
    static let parameters = ConfigurationOption.parameters(at: \Self.configuration)

    var configuration = ConfigurationOption()

    func run(in world: ServerWorld) async throws {
        let now = world.base.clocks.now()
        let page = try world.tokenStore(configuration).apiTokens()
        try world.print(page.tokens.map { $0.line(at: now) + "\n" }.joined())
        guard page.damaged.isEmpty else {
            throw Diagnosis(
                .vault, "damaged API tokens are refused; the others are listed",
                hints: page.damaged.map(\.message)
                    + ["remove them: siwa-server token remove NAME"], exitCode: .settings)
        }
    }
}

extension APIToken {
    func line(at now: NumericDate) -> String {
        let scopes = APIScope.allCases.filter(scopes.contains)
        return JSON.object([
            .init("name", .string(name)),
            .init("scopes", .array(scopes.map { .string($0.rawValue) })),
            .init("created_at", .string(createdAt.rfc3339)),
            .init("expires_at", expiresAt.map { .string($0.rfc3339) } ?? .null),
            .init("expired", .boolean(expiresAt.map { $0 <= now } ?? false)),
        ]).text
    }
}
