internal import CommandTable

/// How a token is named: by itself, or by the user whose tokens the vault has.
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
            help: "Take what the vault has of this user (user_id), in place of --token."),
        VaultArgument.option(\.vault),
    ]

    /// Finds what cannot be asked for together.
    func check() throws(UsageError.Problem) {
        guard vault == nil || user != nil else {
            throw UsageError.Problem.misuse(
                "--vault goes with --user", hint: "say whose token is meant: --user ID")
        }
    }
}
