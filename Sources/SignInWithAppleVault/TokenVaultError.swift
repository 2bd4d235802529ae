internal import SIWALifecycle
public import SignInWithApple

/// Why a call to the vault failed.
public struct TokenVaultError: Error, Hashable, Sendable {
    /// What went wrong. An open set: later versions may add kinds.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The name in snake_case, as it may stand in a log.
        public let rawValue: String

        /// Creates a kind from any name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A user id, a client id or a token is invalid, or a sign-in has no refresh token.
        public static let invalidArgument = Self(rawValue: "invalid_argument")
        /// No vault exists at this place.
        public static let notInitialized = Self(rawValue: "not_initialized")
        /// A vault exists already.
        public static let alreadyInitialized = Self(rawValue: "already_initialized")
        /// The place cannot be used because of its URL, its folder, its permissions or its login.
        public static let unusable = Self(rawValue: "unusable")
        /// The library for the database is not installed.
        public static let unavailable = Self(rawValue: "unavailable")
        /// The vault was made by a newer version.
        public static let tooNew = Self(rawValue: "too_new")
        /// The vault was made before the first release: export its tokens with the version that made
        /// it, and import them into a new vault.
        public static let tooOld = Self(rawValue: "too_old")
        /// A key is missing, malformed or not the vault's.
        public static let key = Self(rawValue: "key")
        /// Another process added a newer key: open the vault again with it.
        public static let keySuperseded = Self(rawValue: "key_superseded")
        /// The server did not prove its identity, or does not encrypt the connection.
        public static let untrusted = Self(rawValue: "untrusted")
        /// The server does not answer.
        public static let unreachable = Self(rawValue: "unreachable")
        /// Another process locks the vault for too long.
        public static let busy = Self(rawValue: "busy")
        /// The disk is full.
        public static let full = Self(rawValue: "full")
        /// A row of the database is not a valid record.
        public static let recordDamaged = Self(rawValue: "record_damaged")
        /// A record cannot be decrypted: it was changed, or belongs elsewhere.
        public static let sealBroken = Self(rawValue: "seal_broken")
        /// A token cannot be one of Apple's.
        public static let tokenInvalid = Self(rawValue: "token_invalid")
        /// The database is broken.
        public static let damaged = Self(rawValue: "damaged")
        /// Apple did not revoke a token: see ``TokenVaultError/cause``.
        public static let notRevoked = Self(rawValue: "not_revoked")
        /// The vault has tokens of the user for clients that were not given.
        public static let otherClients = Self(rawValue: "other_clients")
        /// The task was cancelled, and the call can be continued by repeating it.
        public static let cancelled = Self(rawValue: "cancelled")
    }

    /// What went wrong.
    public let kind: Kind
    /// What happened, as a sentence without a full stop. It may contain a user id and a
    /// fingerprint, but no token.
    public let message: String
    /// Whether the same call may succeed later.
    public var isRetryable = false
    /// Why Apple did not revoke a token; nil for other kinds than `notRevoked`.
    public var cause: SignInWithAppleError?
    /// The clients of the tokens that remain, for the kind `otherClients`; empty otherwise.
    public var clientIDs: [String] = []

    /// Creates an error, for tests.
    ///
    /// - Parameters:
    ///   - kind: what went wrong.
    ///   - message: what happened; it must contain no token.
    public init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }

    static var cancelled: Self {
        var error = Self(.cancelled, "the task was cancelled")
        error.isRetryable = true
        return error
    }

    static func otherClients(_ clients: [String], _ userID: String) -> Self {
        var error = Self(
            .otherClients,
            "tokens of user '\(userID)' remain that were issued to other clients: "
                + clients.joined(separator: ", "))
        error.clientIDs = clients
        return error
    }

    init(notRevoked cause: SignInWithAppleError, _ message: String) {
        self.init(.notRevoked, message)
        (isRetryable, self.cause) = (cause.isRetryable, cause)
    }

    init(_ error: StoreError) {
        self.init(Kind(error.kind), error.message)
        isRetryable = error.isTemporary
    }
}

extension TokenVaultError: CustomStringConvertible {
    /// ``message``.
    public var description: String { message }
}

extension TokenVaultError.Kind {
    init(_ kind: StoreError.Kind) {
        switch kind {
        case .notInitialized, .serverNotInitialized: self = .notInitialized
        case .alreadyInitialized: self = .alreadyInitialized
        case .tooNew: self = .tooNew
        case .tooOld: self = .tooOld
        case .unusable, .inUse, .moved, .copyIncomplete: self = .unusable
        case .unavailable: self = .unavailable
        case .busy, .moving: self = .busy
        case .full: self = .full
        case .untrusted: self = .untrusted
        case .unreachable, .readOnly: self = .unreachable
        case .damaged: self = .damaged
        case .key: self = .key
        case .keySuperseded: self = .keySuperseded
        case .sealBroken: self = .sealBroken
        case .recordDamaged: self = .recordDamaged
        case .tokenInvalid: self = .tokenInvalid
        }
    }
}
