import SIWAApplication
internal import SIWACrypto
import SIWAJOSE
import SIWALifecycle

/// The client of a profile, for a process that sends many requests: its settings are read once.
struct ProfileClient: Sendable {
    /// The name of the profile; empty without profiles.
    let name: String
    /// The App ID or Services ID of the profile.
    let clientID: ClientID
    /// The client's team.
    let teamID: TeamID
    /// The clients whose identity tokens and notifications are accepted.
    let audiences: [String]
    /// The redirect URI of sign-ins; nil if it is not set.
    let redirectURI: String?
    /// The origin of Apple's endpoints.
    let baseURL: BaseURL
    /// The time limit of a call, including repetitions.
    let timeout: Duration
    /// The most attempts for a request.
    let maxAttempts: Int
    /// The transport to Apple.
    let transport: any Transport
    /// The client with its key; nil if another machine mints its secrets.
    let signing: Client?

    /// The client_secrets of its requests.
    let secrets: ClientSecretCache
    private let clocks: Clocks
    private let trace: RequestTrace?
    private let base: TokenClient
    private let explain: Explanation
    /// How long the client_secret lives that another machine minted; nil if it is minted here.
    private(set) var givenLifetime: Duration?
    /// How the key that is in its file now differs from the one in use, as a sentence without a full
    /// stop; nil if it does not. Reads the file.
    private(set) var keyFault: @Sendable () -> String? = { nil }
    /// Whether its key is in a copy that the service manager made when the process started.
    private(set) var hasCopiedKey = false

    /// Explains a failed request to an operator.
    ///
    /// The first flag is whether the request had a redirect URI, the second whether it had a code
    /// verifier.
    typealias Explanation = @Sendable (TokenFailure, Bool, Bool) -> Diagnosis

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - secrets: the source of its client_secrets.
    ///   - trace: receives every request.
    init(
        name: String, teamID: TeamID, secrets: any ClientSecretSource, audiences: [String],
        redirectURI: String? = nil, baseURL: BaseURL = .apple, timeout: Duration = .seconds(30),
        maxAttempts: Int = 4, transport: any Transport, clocks: Clocks,
        trace: RequestTrace? = nil, explain: Explanation? = nil
    ) {
        (self.name, self.teamID, clientID) = (name, teamID, secrets.clientID)
        (self.audiences, self.redirectURI, self.baseURL) = (audiences, redirectURI, baseURL)
        (self.timeout, self.maxAttempts, self.transport) = (timeout, maxAttempts, transport)
        (self.clocks, self.trace) = (clocks, trace)
        signing = secrets as? Client
        self.secrets = ClientSecretCache(
            secrets, timekeeper: clocks.timekeeper, waitsForRetries: false)
        self.explain =
            explain ?? { failure, _, _ in
                Diagnosis(RequestError(failure: failure, context: nil))
            }
        base = TokenClient(
            self.secrets, baseURL: baseURL,
            delivery: Delivery(
                through: transport, until: Deadline(after: timeout, by: clocks.timekeeper),
                clocks: clocks))
    }

    /// The token endpoints, for one call that begins now.
    ///
    /// - Parameters:
    ///   - maxAttempts: the most attempts for each request; nil for the number in the settings.
    ///   - limit: the longest time of the call; that of the settings may be shorter.
    func tokens(maxAttempts: Int? = nil, limit: Duration? = nil) -> TokenClient {
        base.delivering(through: delivery(maxAttempts: maxAttempts, limit: limit))
    }

    /// Sends the requests of one call that begins now.
    ///
    /// - Parameters:
    ///   - maxAttempts: nil for the number in the settings.
    ///   - limit: the longest time of the call; that of the settings may be shorter.
    func delivery(maxAttempts: Int? = nil, limit: Duration? = nil) -> Delivery {
        Delivery(
            through: transport,
            policy: RetryPolicy(maxAttempts: maxAttempts ?? self.maxAttempts),
            until: Deadline(after: min(limit ?? timeout, timeout), by: clocks.timekeeper),
            clocks: clocks, trace: trace)
    }

    /// Explains a failed request.
    func diagnosis(
        of failure: TokenFailure, hasRedirectURI: Bool = false, hasCodeVerifier: Bool = false
    ) -> Diagnosis {
        var diagnosis = explain(failure, hasRedirectURI, hasCodeVerifier)
        diagnosis.retryAfter = failure.cause.retryAfter(at: clocks.now())
        return diagnosis
    }
}

extension ProfileClient {
    /// Whether its key is with a signer that has to be awaited.
    var isSignedElsewhere: Bool { signing.map { !$0.signingKey.signer.isAtOnce } ?? false }

    /// Reads the settings of a profile.
    ///
    /// - Parameters:
    ///   - watch: hears how the signer of the profile with this name does.
    ///   - name: nil chooses as `siwa` does.
    ///   - configuration: the configuration file; nil searches as `siwa` does.
    ///   - wrap: wraps the transport of the profile with this name to Apple, for example with a
    ///     limit.
    ///   - trace: receives every request.
    ///   - signers: those of all profiles.
    /// - Throws: `SettingsError`, which `Diagnosis` explains.
    init(
        profile name: String?, configuration: String?, in world: World,
        wrap: (String, any Transport) -> any Transport = { $1 }, trace: RequestTrace? = nil,
        sharing signers: SharedSigners,
        watch: @escaping @Sendable (String, SignerEvent) -> Void = { _, _ in }
    ) throws {
        let session = try Session(ProfileSelection(file: configuration, name: name), in: world)
        let client = try session.requestClient()
        let network = try AppleConnection(session)
        let settings = session.settings
        let name = settings.profileName?.value ?? ""
        self.init(
            name: name, teamID: client.teamID,
            secrets: try Self.source(client, signers) { watch(name, $0) },
            audiences: try settings.audiences(),
            redirectURI: try settings.redirectURI(), baseURL: network.baseURL,
            timeout: try settings.timeout(), maxAttempts: try settings.maxAttempts(),
            transport: wrap(name, network.feeds), clocks: world.clocks, trace: trace
        ) { failure, hasRedirectURI, hasCodeVerifier in
            Diagnosis(
                RequestError(
                    failure: failure,
                    context: FailureContext(
                        after: failure, client, session, server: network.baseURL,
                        hasRedirectURI: hasRedirectURI, hasCodeVerifier: hasCodeVerifier,
                        isCommandLine: false)))
        }
        if case .given = client { givenLifetime = client.secretLifetime }
        guard case .signing(let loaded) = client, case .file(let path) = loaded.key.source.value
        else { return }
        let publicKey = loaded.key.publicKey
        hasCopiedKey = world.isCredential(path)
        keyFault = {
            do throws(SettingsError) {
                let found = try settings.loadKey(in: world).publicKey
                return found.isSame(as: publicKey)
                    ? nil : "\(path) has another key than the one in use"
            } catch {
                return "the private key cannot be used any more: \(error.message)"
            }
        }
    }

    /// The source of the secrets. Those of a signer live for an hour, because it is slow or costs
    /// money.
    private static func source(
        _ client: RequestClient, _ signers: SharedSigners,
        _ watch: @escaping @Sendable (SignerEvent) -> Void
    ) throws(SettingsError) -> any ClientSecretSource {
        guard case .signing(let loaded) = client,
            case .signer(let signer) = loaded.key.source.value
        else { return client.secrets }
        if case .sshAgent(_, nil) = signer.place {
            throw SettingsError(
                "siwa-server needs 'agent_socket' beside 'ssh_agent'",
                hints: ["set the path of the agent's socket (\(loaded.key.source.origin))"])
        }
        var client = loaded.client
        client.secretLifetime = .seconds(3600)
        let key = client.signingKey
        client.signingKey = SigningKey(
            id: key.id, publicKey: key.publicKey,
            signer: signers.signer(key.signer, at: signer.place))
        client.signingKey.watch = watch
        return client
    }
}
