public import FoundationEssentials
internal import JOSE
internal import Lifecycle
internal import SIWACrypto

/// A client of Sign in with Apple: an App ID or a Services ID, and its private key.
///
/// A client is a value that may be copied and used by many tasks concurrently; its copies share one
/// cache of Apple's public keys. Every call fails with a ``SignInWithAppleError``.
///
/// ```swift
/// let apple = try SignInWithAppleClient(
///     teamID: "A1B2C3D4E5", clientID: "com.example.app", keyID: "K1L2M3N4P5",
///     privateKey: pem, transport: try CurlTransport())
/// let signIn = try await apple.exchange(code)
/// ```
public struct SignInWithAppleClient: Sendable {
    let client: Client
    let audiences: [String]
    let baseURL: BaseURL
    let keys: KeySource
    let transport: EngineTransport
    let policy: RetryPolicy
    let clocks: Clocks
    let timeout: Duration

    /// Creates a client. No request is sent.
    ///
    /// - Parameters:
    ///   - teamID: the Team ID, ten letters and digits.
    ///   - clientID: the App ID (bundle id, without the Team ID) or the Services ID.
    ///   - keyID: the Key ID of `privateKey`, ten letters and digits.
    ///   - privateKey: the text of the `.p8` file: PKCS#8 or SEC 1; PEM, or base64 alone; quoted,
    ///     indented, on one line with `\n` in place of line ends, or encoded in base64 again.
    ///   - transport: sends the requests, such as `CurlTransport`.
    ///   - baseURL: the origin of Apple's endpoints, or of an emulator for tests. `http` is
    ///     accepted for loopback addresses only.
    ///   - audiences: other client ids whose identity tokens and notifications are accepted.
    ///   - timeout: the time for a call and its retries, unless the call has its own timeout.
    ///   - maxAttempts: the most attempts for a request that may be repeated; less than 2 means no
    ///     retries.
    ///   - now: the wall clock; by default the system's.
    ///   - clock: the clock for waits and timeouts; by default the system's.
    /// - Throws: ``SignInWithAppleError`` of kind `invalidConfiguration`.
    public init(
        teamID: String, clientID: String, keyID: String, privateKey: String,
        transport: any Transport, baseURL: String = "https://appleid.apple.com",
        audiences: [String] = [], timeout: Duration = .seconds(30), maxAttempts: Int = 4,
        now: @escaping @Sendable () -> Date = { Date() },
        clock: any Clock<Duration> = ContinuousClock()
    ) throws(SignInWithAppleError) {
        let key: P256PrivateKey
        do throws(PrivateKeyError) {
            key = try PrivateKeyText(SecretBytes(privateKey.utf8)).privateKey()
        } catch {
            throw SignInWithAppleError(.invalidConfiguration, "the private key \(error)")
        }
        client = Client(
            teamID: try valid(teamID, "the Team ID"),
            clientID: try valid(clientID, "the client id"),
            signingKey: SigningKey(key, id: try valid(keyID, "the Key ID")))
        do throws(BaseURLError) {
            self.baseURL = try BaseURL(validating: baseURL)
        } catch {
            throw SignInWithAppleError(.invalidConfiguration, "the base URL \(error)")
        }
        self.audiences = [clientID] + audiences
        self.transport = EngineTransport(transport)
        self.timeout = timeout
        keys = KeySource()
        policy = RetryPolicy(maxAttempts: maxAttempts)
        clocks = Clocks(now: { NumericDate(now()) }, timekeeper: Timekeeper(clock))
    }

    private init(_ other: Self, _ client: Client, audiences: [String]) {
        self.client = client
        self.audiences = audiences
        (baseURL, keys, transport) = (other.baseURL, other.keys, other.transport)
        (policy, clocks, timeout) = (other.policy, other.clocks, other.timeout)
    }

    /// The App ID or Services ID.
    public var clientID: String { client.clientID.rawValue }

    /// A client of the same team, with the same key, transport and cache of Apple's public keys.
    ///
    /// - Parameters:
    ///   - clientID: another App ID or Services ID of the team.
    ///   - audiences: further client ids whose identity tokens and notifications are accepted.
    /// - Returns: the client.
    /// - Throws: ``SignInWithAppleError`` of kind `invalidConfiguration`.
    public func client(
        for clientID: String, audiences: [String] = []
    ) throws(SignInWithAppleError) -> SignInWithAppleClient {
        let other = Client(
            teamID: client.teamID, clientID: try valid(clientID, "the client id"),
            signingKey: client.signingKey)
        return Self(self, other, audiences: [clientID] + audiences)
    }

    /// Creates a client secret, for software that sends requests to Apple itself (Apple: "Creating
    /// a client secret").
    ///
    /// - Parameter lifetime: from a second to about six months (15,777,000 s).
    /// - Returns: the secret, valid from now.
    /// - Throws: ``SignInWithAppleError`` of kind `invalidArgument` for another lifetime, or
    ///   `invalidConfiguration` if OpenSSL cannot sign.
    public func clientSecret(
        lifetime: Duration = .seconds(300)
    ) throws(SignInWithAppleError) -> ClientSecret {
        do throws(ClientSecretError) {
            return ClientSecret(
                try Lifecycle.ClientSecret(
                    signedBy: client.signingKey, for: client.clientID, of: client.teamID,
                    at: clocks.now(), lifetime: lifetime))
        } catch {
            throw SignInWithAppleError(error)
        }
    }
}

extension SignInWithAppleClient {
    /// The delivery of a call with its timeout.
    func delivery(_ timeout: Duration?, through transport: (any Lifecycle.Transport)? = nil)
        -> Delivery
    {
        Delivery(
            through: transport ?? self.transport, policy: policy,
            until: Deadline(after: timeout ?? self.timeout, by: clocks.timekeeper), clocks: clocks)
    }

    /// Whether an answer certainly comes from Apple, or from an emulator on this machine.
    var isServerAuthenticated: Bool { transport.authenticatesServer || baseURL.isLoopback }

    /// The age of Apple's public keys; nil before they are fetched for the first time.
    ///
    /// They are fetched again when they are needed after an hour. More than a day means that this
    /// fails; after seven days, they are not used any more.
    public var keysAge: Duration? {
        get async { await keys.age(at: clocks.now()) }
    }

    func requests(_ delivery: Delivery) -> TokenClient {
        TokenClient(client: client, baseURL: baseURL, delivery: delivery)
    }
}

private func valid<ID: Identifier>(
    _ text: String, _ name: String
) throws(SignInWithAppleError) -> ID {
    do throws(IdentifierError) {
        return try ID(validating: text)
    } catch {
        throw SignInWithAppleError(.invalidConfiguration, "\(name) \(error.fault)")
    }
}

/// A client secret: a JWT with ES256 (Apple: "Creating a client secret").
public struct ClientSecret: Sendable, CustomStringConvertible, CustomReflectable {
    /// The JWT, to be sent as `client_secret`. A secret: never log it.
    public let text: String
    /// When it expires.
    public let expiresAt: Date

    init(_ secret: Lifecycle.ClientSecret) {
        text = secret.text.revealed()
        expiresAt = secret.expiresAt.date
    }

    /// The expiry, without the JWT.
    public var description: String { "client secret, expires at \(NumericDate(expiresAt).rfc3339)" }

    /// Keeps `dump` from showing the JWT.
    public var customMirror: Mirror { Mirror(self, children: ["expiresAt": expiresAt]) }
}
