internal import Lifecycle
public import SignInWithApple

/// Why a call to the vault failed.
public struct TokenVaultError: Error, Sendable, CustomStringConvertible {
    /// What went wrong. Later versions may add kinds.
    public enum Kind: String, Sendable, CaseIterable {
        /// A user id, a client id or a token is invalid, or a sign-in has no refresh token.
        case invalidArgument
        /// No vault exists at this place.
        case notInitialized
        /// A vault exists already.
        case alreadyInitialized
        /// The place cannot be used because of its URL, its folder, its permissions or its login.
        case unusable
        /// The library for the database is not installed.
        case unavailable
        /// The vault was made by a newer version.
        case tooNew
        /// A key is missing, malformed or not the vault's.
        case key
        /// Another process added a newer key: open the vault again with it.
        case keySuperseded
        /// The server did not prove its identity, or does not encrypt the connection.
        case untrusted
        /// The server does not answer.
        case unreachable
        /// Another process locks the vault for too long.
        case busy
        /// The disk is full.
        case full
        /// A row of the database is not a valid record.
        case recordDamaged
        /// A record cannot be decrypted: it was changed, or belongs elsewhere.
        case sealBroken
        /// A stored text cannot be one of Apple's tokens: siwa 0.1 stored any text.
        case tokenInvalid
        /// The database is broken.
        case damaged
        /// Apple did not revoke a token: see ``TokenVaultError/cause``.
        case notRevoked
        /// The vault has tokens of the user for clients that were not given.
        case otherClients
    }

    /// What went wrong.
    public let kind: Kind
    /// What happened. It may contain a user id and a fingerprint, but no token.
    public let description: String
    /// Whether the same call may succeed later.
    public let isRetryable: Bool
    /// Why Apple did not revoke a token; nil for other kinds.
    public let cause: SignInWithAppleError?

    init(
        _ kind: Kind, _ description: String, isRetryable: Bool = false,
        cause: SignInWithAppleError? = nil
    ) {
        (self.kind, self.description) = (kind, description)
        (self.isRetryable, self.cause) = (isRetryable, cause)
    }

    static func otherClients(_ clients: [String], _ userID: String) -> Self {
        Self(
            .otherClients,
            "tokens of user '\(userID)' remain that were issued to other clients: "
                + clients.joined(separator: ", "))
    }

    init(_ error: VaultError) {
        self.init(Kind(error.kind), error.message, isRetryable: error.isTemporary)
    }
}

extension TokenVaultError.Kind {
    init(_ kind: VaultError.Kind) {
        switch kind {
        case .notInitialized, .serverNotInitialized: self = .notInitialized
        case .alreadyInitialized: self = .alreadyInitialized
        case .tooNew: self = .tooNew
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
