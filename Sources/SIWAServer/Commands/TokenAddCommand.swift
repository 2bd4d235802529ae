internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

/// `siwa-server token add`: creates an API token.
struct TokenAddCommand: Command {
    static let name = "token add"
    static let abstract = "Create a token for callers of the API over TCP, and print it."
    static let discussion = """
        The token is printed once; the database keeps only its SHA-256. A running server accepts it \
        at once. Callers on the Unix socket need none.

        The scopes: exchange, refresh, revoke, verify and secret allow the call of their name; read \
        allows users, events, revocations and the status page; erase allows to erase users; reveal \
        is needed to be shown a refresh token.
        """
    static let examples = [
        Example("siwa-server token add web --scope exchange --scope revoke", "For a web server.")
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand("NAME", \.$tokenName, help: "The name of the token."),
            .option("scope", \.scopes, value: "SCOPE", help: "A permission of the token."),
            .option(
                "expires", \.expires, value: "DURATION",
                help: "How long the token is valid; until it is removed unless set."),
        ] + ConfigurationOption.parameters(at: \.configuration)

    @Required var tokenName: String
    var scopes: [APIScope] = []
    var expires: DurationArgument?
    var configuration = ConfigurationOption()

    func run(in world: ServerWorld) async throws {
        guard !scopes.isEmpty else {
            let names = APIScope.allCases.map(\.rawValue).joined(separator: " or ")
            throw Diagnosis(
                .usage, "a token without --scope has no permissions",
                hints: ["add --scope \(names)"], exitCode: .usage)
        }
        guard (1...64).contains(tokenName.utf8.count), isPrintableASCII(tokenName) else {
            throw Diagnosis(
                .usage, "NAME must have 1 to 64 visible characters",
                hints: ["give a name such as web"], exitCode: .usage)
        }
        let text = try APITokenText.random()
        let now = world.base.clocks.now()
        let token = try text.token(
            tokenName, scopes: Set(scopes), at: now, expiresAt: expires.map { now + $0.duration })
        let store = try world.tokenStore(configuration)
        guard try store.add(token) else {
            throw Diagnosis(
                .tokenExists, "the token '\(tokenName)' exists already",
                hints: ["remove it: siwa-server token remove \(tokenName)"], exitCode: .no)
        }
        try world.base.deliver(
            SecretBytes((text.text.revealed() + "\n").utf8),
            of: Deed(
                "the token was created",
                hint: "remove it: siwa-server token remove \(tokenName); then create it again"))
    }

    private func isPrintableASCII(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension APIScope: ParameterValue {}

extension ServerWorld {
    /// The store of the API tokens; its tables are created if they are missing.
    func tokenStore(_ option: ConfigurationOption) throws(Diagnosis) -> ServerStore {
        let configuration = try ServedConfiguration(option.file, in: base)
        let store = try configuration.serverStore(.eachStatement(.seconds(5)))
        do throws(StoreError) {
            try store.prepare(isAlone: false)
        } catch {
            throw Diagnosis(error)
        }
        return store
    }
}
