internal import SIWAApplication
internal import SIWACommandTable
internal import SIWALifecycle

/// The value of `--scope`: one argument, in Apple's format.
struct ScopeList: ParameterValue {
    let scopes: Set<AuthorizationRequest.Scope>

    init?(argument: String) {
        let words = argument.split(separator: " ")
        let scopes = words.compactMap { AuthorizationRequest.Scope(rawValue: String($0)) }
        guard !scopes.isEmpty, scopes.count == words.count else { return nil }
        self.scopes = Set(scopes)
    }

    static var expectation: String { "one or more of name, email and openid, separated by spaces" }

    var argumentDescription: String { scopes.map(\.rawValue).sorted().joined(separator: " ") }
}

extension AuthorizationRequest.ResponseMode: ParameterValue {}

extension AuthorizationRequest.ResponseType: ParameterValue {
    /// Empty: one of the two values contains a space, which completions cannot offer.
    package static var choices: [String] { [] }

    /// The two values.
    package static var expectation: String { "code or 'code id_token'" }
}
