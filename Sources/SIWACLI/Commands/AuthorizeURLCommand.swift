internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// `siwa authorize-url`: prints the URL that starts a sign-in in the browser.
struct AuthorizeURLCommand: Command {
    static let name = "authorize-url"
    static let abstract = "Print the URL that starts a sign-in on the web."
    static let discussion = """
        Invalid requests, for which Apple shows a page without a reason, are refused here. The \
        client id must be a Services ID, and the redirect URI must be registered for it, exactly as \
        given. No key is needed.

        The default of --response-mode is form_post if a scope or an identity token is requested, \
        else query. The URL contains the state and the nonce, as Apple requires.
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
                help: "What to request: \"name email\"; sent at a user's first sign-in only."),
            .option(
                "state", \.state, value: "STATE",
                help: "Returned unchanged: proves that the response belongs to this browser."),
            .option(
                "nonce", \.nonce, value: "NONCE",
                help: "Returned in the identity token: proves that it belongs to this sign-in."),
            .option(
                "response-type", \.responseType, value: "TYPE",
                help: "What Apple returns: code, or \"code id_token\"."),
            .option(
                "response-mode", \.responseMode, value: "MODE", help: "How Apple returns it."),
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
        let session = try Session(global, redirectURI: redirectURI, in: world)
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
                error.description, hint: "use --response-mode form_post, or omit it")
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
    /// The redirect URI, which a sign-in on the web requires.
    fileprivate func webRedirectURI() throws -> RedirectURI {
        guard let setting = text(.redirectURI) else {
            throw UsageError.Problem.misuse(
                "a sign-in on the web needs a redirect URI",
                hint: "set it with \(SettingName.redirectURI.places)")
        }
        do {
            return try RedirectURI(validating: setting.value)
        } catch {
            // The text before an @ may be a password.
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
                "Apple accepts only https and a domain name: for development, point a domain name "
                    + "of yours to your machine (a tunnel, or /etc/hosts)"
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
