internal import CommandTable
internal import SIWACrypto
internal import SignInWithApple

/// `siwa authorize-url`: where to send the browser for a sign-in.
struct AuthorizeURLCommand: Command {
    static let name = "authorize-url"
    static let abstract = "Print the URL that begins a sign-in on the web."
    static let discussion = """
        Refuses what Apple would refuse with a page that names no reason. The client id must be \
        a Services ID, and the redirect URI registered for it letter for letter. No key is needed.

        Without --response-mode it is form_post for the scopes name and email and for an identity \
        token, and query otherwise. State and nonce stand in the URL: that is their way to Apple.
        """
    static let examples = [
        Example(
            "siwa authorize-url --redirect-uri https://example.com/apple --scope \"name email\" "
                + "--state @state --nonce @nonce", "Ask for a code, the name and the address.")
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option(
                "redirect-uri", \.redirectURI, value: "URI",
                help: "Where Apple sends the browser: https, a domain name, no fragment."),
            .option(
                "scope", \.scope, value: "SCOPES",
                help: "What to ask for: \"name email\"; told at a user's first consent only."),
            .option(
                "state", \.state, value: "STATE",
                help: "Comes back as it is: proof that the answer belongs to this browser."),
            .option(
                "nonce", \.nonce, value: "NONCE",
                help: "Comes back in the identity token: proof that it belongs to this sign-in."),
            .option(
                "response-type", \.responseType, value: "TYPE",
                help: "What comes back: code, or \"code id_token\"."),
            .option(
                "response-mode", \.responseMode, value: "MODE", help: "How it comes back."),
            .option(
                "code-challenge", \.codeChallenge, value: "CHALLENGE",
                help: "Base64url of the code verifier's SHA-256 (PKCE, method S256)."),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var redirectURI: String?
    var scope: ScopeList?
    var state: SecretArgument?
    var nonce: SecretArgument?
    var responseType = AuthorizationRequest.ResponseType.code
    var responseMode: AuthorizationRequest.ResponseMode?
    var codeChallenge: String?

    func run(in world: World) async throws {
        let session = try Session(
            TypedSettings(global: global, redirectURI: redirectURI), in: world)
        let request = try request(session)
        let base = try session.settings.baseURL()
        if base == .account { session.console.warn(base.accountWarning) }
        let url = request.url(at: base)
        let members = request.form.parameters.map { JSON.Member($0.name, .string($0.text)) }
        try session.report(
            Report(.object([.init("url", .string(url.revealed()))] + members), text: url))
    }

    private func request(_ session: Session) throws -> AuthorizationRequest {
        let clientID = try session.clientID()
        let redirectURI = try session.settings.webRedirectURI()
        let state = try state.map { try session.secret($0, "--state") }
        let nonce = try nonce.map { try session.secret($0, "--nonce") }
        let challenge = try codeChallenge.map(Self.challenge)
        do {
            return try AuthorizationRequest(
                clientID: clientID, redirectURI: redirectURI, responseType: responseType,
                responseMode: responseMode, scopes: scope?.scopes ?? [], state: state,
                nonce: nonce, codeChallenge: challenge)
        } catch {
            throw UsageError.Problem.misuse(
                error.description, hint: "give --response-mode form_post, or leave it out")
        }
    }

    private static func challenge(_ text: String) throws(UsageError.Problem) -> CodeChallenge {
        do {
            return try CodeChallenge(validating: text)
        } catch {
            throw UsageError.Problem.misuse(
                "--code-challenge \(error)",
                hint: "printf %s \"$VERIFIER\" | openssl dgst -sha256 -binary | "
                    + "basenc --base64url | tr -d = makes it")
        }
    }
}

extension Settings {
    /// The redirect URI of a sign-in, which cannot do without one.
    fileprivate func webRedirectURI() throws -> RedirectURI {
        guard let setting = text(.redirectURI) else {
            throw UsageError.Problem.misuse(
                "a sign-in on the web needs a redirect URI",
                hint: "set it with \(SettingName.redirectURI.places)")
        }
        do {
            return try RedirectURI(validating: setting.value)
        } catch {
            // Before an @ may stand a password.
            let shown = error == .user ? "" : " '\(setting.value)'"
            throw SettingsError(
                "redirect_uri\(shown) \(error)", from: setting.origin, hints: error.remedy)
        }
    }
}

extension RedirectURIError {
    fileprivate var remedy: [String] {
        switch self {
        case .scheme, .address, .localhost, .domainName:
            [
                "Apple takes https and a domain name only: while developing, let a name of yours "
                    + "lead to your machine (a tunnel, or /etc/hosts)"
            ]
        case .character: ["percent-encode it, here and where it is registered"]
        case .fragment, .user, .port: []
        }
    }
}

extension Form.Parameter {
    fileprivate var text: String {
        switch value {
        case .plain(let text): text
        case .secret(let secret): secret.revealed()
        }
    }
}
