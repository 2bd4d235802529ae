internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWALifecycle

// Secret arguments that must be a token, a code or a code verifier.
extension Session {
    /// Reads a secret argument that must be an authorization code, a refresh token or an access
    /// token.
    func opaqueToken(_ argument: SecretArgument, _ name: String) throws -> SecretText {
        try secret(argument, name, validateOpaqueToken)
    }

    /// Reads a secret argument that is to be revoked as a token.
    func revocableToken(
        _ argument: SecretArgument, _ name: String, as kind: TokenKind
    ) throws -> (SecretText, TokenLook) {
        var look = TokenLook.usual
        let text = try secret(argument, name) { text throws(OpaqueTokenError) in
            look = try judgeRevocable(text, as: kind)
        }
        return (text, look)
    }

    /// Reads the code verifier of a sign-in with a code_challenge.
    func codeVerifier(_ argument: SecretArgument) throws -> CodeVerifier {
        CodeVerifier(try secret(argument, "--code-verifier", validateVisibleText))
    }

    private func secret(
        _ argument: SecretArgument, _ name: String,
        _ validate: (SecretText) throws(OpaqueTokenError) -> Void
    ) throws -> SecretText {
        let secret = try secret(argument, name)
        do throws(OpaqueTokenError) {
            try validate(secret)
        } catch {
            throw UsageError.Problem.misuse(
                "\(name) \(error)",
                hint: error.remedy)
        }
        return secret
    }
}

extension OpaqueTokenError {
    /// What to give in place of the text.
    fileprivate var remedy: String {
        switch self {
        case .jwt: "codes begin with 'c', refresh tokens with 'r'; take that member of the answer"
        case .placeholder, .symbol("$"):
            "check the variable that holds it; @env:NAME fails if NAME is not set"
        case .symbol(","), .symbol(";"):
            "'siwa batch revoke' and 'siwa vault import' read many tokens"
        case .symbol(":"), .symbol("\\"), .symbol("@"): "@PATH reads a file, @env:NAME a variable"
        default: "give the bare value, as 'jq -r' and '--print' print it"
        }
    }
}
