public import FoundationEssentials
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// Sign in with Apple for one client or for several: App IDs and Services IDs, and their private keys.
///
/// A client is a value that may be copied and used by many tasks concurrently; its copies share one
/// cache of Apple's public keys, and one transport. Every call fails with a ``SignInWithAppleError``.
///
/// ```swift
/// let apple = try SignInWithAppleClient(
///     teamID: "A1B2C3D4E5", clientID: "com.example.app", otherClientIDs: ["com.example.web"],
///     key: ClientSecretKey(pem: pem, id: "K1L2M3N4P5"), transport: CurlTransport())
/// let signIn = try await apple.exchange(code)
/// let web = try apple.client(for: "com.example.web")
/// ```
public struct SignInWithAppleClient: Sendable {
    let id: ClientID
    /// The key of each client, by client id.
    let teams: [String: TeamKey]
    /// All App IDs and Services IDs whose identity tokens and notifications are accepted, sorted.
    public let clientIDs: [String]
    let shared: Shared

    /// What all clients share.
    final class Shared: Sendable {
        let baseURL: BaseURL
        let keys: KeySource
        /// The only keys that are accepted; nil for Apple's.
        let givenKeys: KeySet?
        let transport: EngineTransport
        let policy: RetryPolicy
        let clocks: Clocks
        let timeout: Duration
        let observer: Observer
        let bearers = TeamBearers()
        /// Parses tokens, whose headers are few.
        let reader = SharedJWSReader()

        init(
            _ transport: any Transport, _ baseURL: BaseURL, _ appleKeys: AppleKeys,
            _ policy: RetryPolicy, _ clocks: Clocks, _ timeout: Duration, _ observer: Observer
        ) {
            self.transport = EngineTransport(transport, clocks.timekeeper)
            (self.baseURL, self.policy, self.clocks) = (baseURL, policy, clocks)
            (self.timeout, self.observer) = (timeout, observer)
            switch appleKeys.origin {
            case .given(let keySet): (givenKeys, keys) = (keySet, KeySource(observer, nil))
            case .apple(let store):
                givenKeys = nil
                keys = KeySource(
                    observer,
                    store.map { SharedKeySet($0, of: baseURL, observer, clocks.timekeeper) })
            }
        }
    }

    /// Creates a client. No request is sent.
    ///
    /// - Parameters:
    ///   - teamID: the Team ID, ten letters and digits.
    ///   - clientID: the App ID (bundle id, without the Team ID) or the Services ID whose codes and
    ///     tokens are sent to Apple.
    ///   - otherClientIDs: further App IDs and Services IDs of the team with the same key; see
    ///     ``client(for:)``. Identity tokens and notifications of all of them are accepted.
    ///   - key: the key that signs client secrets.
    ///   - transport: sends the requests, such as `CurlTransport`.
    ///   - baseURL: the origin of Apple's endpoints, or of an emulator for tests. `http` is
    ///     accepted for loopback addresses only.
    ///   - appleKeys: where Apple's public keys come from.
    ///   - timeout: the time for a call and its retries, unless the call has its own timeout.
    ///   - maxAttempts: the most attempts for a request that may be repeated; less than 2 means no
    ///     retries.
    ///   - observer: receives what happens, for logs, metrics and traces. It is called on any
    ///     thread, and must return soon.
    ///   - now: the wall clock; by default the system's.
    ///   - clock: the clock for waits and timeouts; by default the system's.
    /// - Throws: ``SignInWithAppleError`` of kind `invalidConfiguration`.
    public init(
        teamID: String, clientID: String, otherClientIDs: [String] = [], key: ClientSecretKey,
        transport: any Transport, baseURL: String = "https://appleid.apple.com",
        appleKeys: AppleKeys = .fetched, timeout: Duration = .seconds(30), maxAttempts: Int = 4,
        observer: (@Sendable (SignInWithAppleEvent) -> Void)? = nil,
        now: @escaping @Sendable () -> Date = { Date() },
        clock: any Clock<Duration> = ContinuousClock()
    ) throws(SignInWithAppleError) {
        let base: BaseURL
        do throws(BaseURLError) {
            base = try BaseURL(validating: baseURL)
        } catch {
            throw SignInWithAppleError(.invalidConfiguration, "the base URL \(error)")
        }
        id = try valid(clientID, "the client id")
        let clocks = Clocks(now: { NumericDate(now()) }, timekeeper: Timekeeper(clock))
        shared = Shared(
            transport, base, appleKeys, RetryPolicy(maxAttempts: maxAttempts), clocks, timeout,
            Observer(observer))
        let team = TeamKey(
            key, teamID: try valid(teamID, "the Team ID"), clientID: id, clocks: clocks,
            minted: shared.observer.minted)
        var teams = [clientID: team]
        for other in otherClientIDs {
            let other: ClientID = try valid(other, "the client id '\(other)'")
            teams[other.rawValue] = team
        }
        self.teams = teams
        clientIDs = teams.keys.sorted()
    }

    private init(_ id: ClientID, _ teams: [String: TeamKey], _ shared: Shared) {
        (self.id, self.teams, self.shared) = (id, teams, shared)
        clientIDs = teams.keys.sorted()
    }

    /// The App ID or Services ID whose codes and tokens are sent to Apple.
    public var clientID: String { id.rawValue }

    /// The client for the codes and tokens of another client id, such as
    /// ``IdentityClaims/clientID`` of a verified identity token.
    ///
    /// - Parameter clientID: one of ``clientIDs``.
    /// - Throws: ``SignInWithAppleError`` of kind `unknownClient` for any other.
    public func client(for clientID: String) throws(SignInWithAppleError) -> SignInWithAppleClient {
        guard teams[clientID] != nil else {
            throw SignInWithAppleError(
                .unknownClient, "there is no key for the client '\(displayed(clientID))'")
        }
        return Self(ClientID(unchecked: clientID), teams, shared)
    }

    /// The same client, which also accepts another one, with a key of its own.
    ///
    /// - Parameters:
    ///   - clientID: an App ID or a Services ID.
    ///   - teamID: its team.
    ///   - key: the key that signs its client secrets.
    /// - Throws: ``SignInWithAppleError`` of kind `invalidConfiguration`.
    public func adding(
        clientID: String, teamID: String, key: ClientSecretKey
    ) throws(SignInWithAppleError) -> SignInWithAppleClient {
        let other: ClientID = try valid(clientID, "the client id")
        var teams = teams
        teams[clientID] = TeamKey(
            key, teamID: try valid(teamID, "the Team ID"), clientID: other,
            clocks: shared.clocks, minted: shared.observer.minted)
        return Self(id, teams, shared)
    }

    /// Replaces the key of this client, and of the clients that were created with it: in this value
    /// and in all its copies. Requests that were begun keep their client secret.
    public func replaceKey(_ key: ClientSecretKey) { team.replace(with: key, for: id) }

    /// Signs a client secret, for software that sends requests to Apple itself (Apple: "Creating a
    /// client secret").
    ///
    /// - Parameters:
    ///   - lifetime: from a second to about six months (15,777,000 s).
    ///   - timeout: the time for the signer; nil uses that of the client.
    /// - Returns: the secret, valid from now.
    /// - Throws: ``SignInWithAppleError`` of kind `invalidArgument` for another lifetime, or
    ///   `signerFailed` if the key cannot sign.
    public func clientSecret(
        lifetime: Duration = .seconds(300), timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> ClientSecret {
        let (team, id) = (team, id)
        let secret = await bounded(by: timeout ?? shared.timeout, shared.clocks.timekeeper) {
            do throws(ClientSecretError) {
                return Result<SIWALifecycle.ClientSecret, ClientSecretError>.success(
                    try await team.secret(for: id, lifetime: lifetime))
            } catch {
                return .failure(error)
            }
        }
        do throws(ClientSecretError) {
            guard let secret = try secret.value?.get() else {
                throw Task.isCancelled
                    ? .signer(SignerFailure(.unavailable, "the task was cancelled")) : .pending
            }
            return ClientSecret(secret)
        } catch {
            throw SignInWithAppleError(error)
        }
    }
}

extension SignInWithAppleClient {
    var team: TeamKey {
        guard let team = teams[id.rawValue] else {
            preconditionFailure("a client has the key of its own client id")
        }
        return team
    }

    /// The delivery of a call with its timeout.
    func delivery(_ timeout: Duration?, through transport: (any SIWALifecycle.Transport)? = nil)
        -> Delivery
    {
        Delivery(
            through: transport ?? shared.transport, policy: shared.policy,
            until: Deadline(after: timeout ?? shared.timeout, by: shared.clocks.timekeeper),
            clocks: shared.clocks, trace: shared.observer.trace())
    }

    /// Whether an answer certainly comes from Apple, or from an emulator on this machine.
    var isServerAuthenticated: Bool {
        shared.transport.authenticatesServer || shared.baseURL.isLoopback
    }

    /// The age of Apple's public keys; nil before they are fetched for the first time, and for a key
    /// set of one's own.
    ///
    /// They are fetched again when they are needed after an hour. More than a day means that this
    /// fails; after seven days, they are not used any more.
    public var keysAge: Duration? {
        get async { await shared.keys.age(at: shared.clocks.now()) }
    }

    /// Fetches Apple's public keys if there are none that are fresh: when a server starts, so that
    /// the first sign-in need not wait, and a missing network is found at once.
    ///
    /// - Parameter timeout: the time for the fetch; nil uses that of the client.
    /// - Throws: ``SignInWithAppleError`` of kind `keysUnavailable`.
    public func prefetchKeys(timeout: Duration? = nil) async throws(SignInWithAppleError) {
        _ = try await keySet(holding: nil, timeout)
    }

    func requests(_ delivery: Delivery) -> TokenClient {
        TokenClient(team.secrets, for: id, baseURL: shared.baseURL, delivery: delivery)
    }
}

/// A client secret: a JWT with ES256 (Apple: "Creating a client secret").
public struct ClientSecret: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The JWT, to be sent as `client_secret`. A secret: never log it.
    public let text: String
    /// When it expires.
    public let expiresAt: Date

    /// Creates a client secret, for tests.
    public init(text: String, expiresAt: Date) { (self.text, self.expiresAt) = (text, expiresAt) }

    init(_ secret: SIWALifecycle.ClientSecret) {
        text = secret.text.revealed()
        expiresAt = secret.expiresAt.date
    }

    /// The expiry, without the JWT.
    public var description: String { "client secret, expires at \(NumericDate(expiresAt).rfc3339)" }

    /// Keeps `dump` from showing the JWT.
    public var customMirror: Mirror { Mirror(self, children: ["expiresAt": expiresAt]) }
}
