internal import SIWAApplication
internal import SIWACommandTable

/// The options that select a token: the token itself, or the tokens of a user in the vault.
struct TokenOptions: Sendable {
    var token: SecretArgument?
    var user: String?
    var vault: VaultArgument?

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        all.map { $0.rerooted(at: path) }
    }

    private static let all: [Parameter<Self>] = [
        .option("token", \.token, value: "TOKEN", help: "The token."),
        .option(
            "user", \.user, value: "ID",
            help: "Use the tokens of this user (user_id) in the vault; replaces --token."),
        VaultArgument.option(\.vault),
    ]

    /// Refuses options that exclude each other.
    func check() throws(UsageError.Problem) {
        guard vault == nil || user != nil else {
            throw UsageError.Problem.misuse(
                "--vault needs --user", hint: "add --user ID")
        }
    }
}
