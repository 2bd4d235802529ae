internal import CommandTable
internal import JOSE
internal import Lifecycle
internal import SIWACrypto

/// The complete settings of a command, and the functions that use them.
struct Session: Sendable {
    let world: World
    let options: GlobalOptions
    let settings: Settings
    let console: Console
    /// By the monotonic clock.
    let startOfCommand: Duration

    /// - Parameter isShowing: the command only shows the settings, even malformed ones.
    init(
        _ typed: TypedSettings, isShowing: Bool = false, in world: World
    ) throws(SettingsError) {
        self.init(try Settings(typed, in: world), typed.global, in: world)
        if !isShowing { try settings.checkValues() }
        for warning in settings.warnings { console.warn(warning) }
    }

    init(_ settings: Settings, _ options: GlobalOptions, in world: World) {
        self.world = world
        self.options = options
        self.settings = settings
        console = Console(world, options)
        startOfCommand = world.clocks.timekeeper.elapsed()
    }

    /// Reports when a client_secret expires, for `--metrics`.
    func noteClientSecret(expiringAt date: NumericDate) {
        world.metrics.note {
            $0.secretExpiresAt = date
            $0.profile = settings.profileName?.value ?? ""
        }
    }

    /// Prints the command's result.
    func report(_ report: Report) throws { try world.report(report, options) }

    /// Reads a secret argument.
    ///
    /// - Parameter isWhole: reads all of its lines.
    func secret(
        _ argument: SecretArgument, _ name: String, isWhole: Bool = false
    ) throws -> SecretText {
        try argument.resolve(
            name, isStrict: settings.isStrict.value, isWhole: isWhole, in: world)
    }

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

    /// The client id; warns of a Team ID in front of it.
    func clientID() throws(SettingsError) -> ClientID {
        let clientID: ClientID = try settings.identifier(.clientID)
        if let teamID = settings.text(.teamID)?.value, clientID.rawValue.hasPrefix(teamID + ".") {
            console.warn("client_id begins with the Team ID, which is not part of it: \(clientID)")
        }
        return clientID
    }

    /// The client, with checked identifiers and its key; prints warnings.
    func client() throws(SettingsError) -> LoadedClient {
        let teamID: TeamID = try settings.identifier(.teamID)
        let clientID = try clientID()
        let key = try settings.loadKey(in: world)
        for warning in key.warnings { console.warn(warning) }
        let keyID = try settings.keyID(of: key.source.value)
        if let named = key.source.value.keyIDInName, named != keyID {
            console.warn("the key file is named for \(named), but key_id is \(keyID)")
        }
        return LoadedClient(
            client: Client(
                teamID: teamID, clientID: clientID,
                signingKey: SigningKey(key.privateKey, id: keyID),
                secretLifetime: try settings.secretLifetime()),
            key: key)
    }
}

/// A complete client, with the origin of its key for hints.
struct LoadedClient: Sendable {
    let client: Client
    let key: LoadedKey
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
