internal import SIWAJOSE
internal import SIWALifecycle

/// Where Apple's public keys come from, which verify identity tokens and notifications.
public struct AppleKeys: Sendable {
    enum Origin: Sendable {
        case apple(store: (any KeySetStore)?)
        case given(KeySet)
    }

    let origin: Origin

    /// Fetched from Apple when they are needed, and kept in memory for an hour; for up to seven days
    /// while Apple cannot be reached.
    public static let fetched = Self(origin: .apple(store: nil))

    /// Fetched from Apple by one replica, and taken from `store` by the others.
    public static func fetched(sharing store: any KeySetStore) -> Self {
        Self(origin: .apple(store: store))
    }

    /// A key set of one's own, for tests and for servers that cannot reach Apple. No other key is
    /// accepted, nothing is fetched, and it never expires: replace it when Apple changes its keys.
    ///
    /// - Parameter keySet: a JWK Set (RFC 7517), as `https://appleid.apple.com/auth/keys` answers.
    /// - Returns: its RSA keys for RS256.
    /// - Throws: ``SignInWithAppleError`` of kind `invalidConfiguration` if it has no such key.
    public static func given(_ keySet: String) throws(SignInWithAppleError) -> Self {
        guard let keySet = KeySet(Array(keySet.utf8)) else {
            throw SignInWithAppleError(
                .invalidConfiguration, "the key set is not a JWK Set with a key for RS256")
        }
        return Self(origin: .given(keySet))
    }
}

/// Shares Apple's public keys among the replicas of a service, so that one of them fetches for all:
/// a row of a database, a key of Redis, a file.
///
/// A text that someone else wrote there would let them sign in as anybody: protect it like the
/// service's own database. A store that fails or does not answer costs a call two seconds, and the
/// keys are then fetched from Apple.
///
/// ```swift
/// struct SharedKeys: KeySetStore {
///     let redis: Redis
///     func load() async throws -> String? { try await redis.get("apple-keys") }
///     func save(_ keySet: String) async throws { try await redis.set("apple-keys", keySet) }
/// }
/// ```
public protocol KeySetStore: Sendable {
    /// Reads what a replica saved last.
    ///
    /// - Returns: the text, whatever its age; nil before the first.
    func load() async throws -> String?

    /// Saves a text that replaces the one before.
    ///
    /// - Parameter keySet: a few kilobytes of JSON. It contains no secret.
    func save(_ keySet: String) async throws
}
