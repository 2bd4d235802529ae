internal import SIWAJOSE
internal import SIWALifecycle
internal import Synchronization

/// The client_secrets that were minted for callers, so that frequent callers get the same one. They
/// belong to the profiles as last read: a reload may have changed their teams and keys.
final class MintedSecrets: Sendable {
    private struct Key: Hashable {
        let clientID: ClientID
        let teamID: TeamID
        let keyID: KeyID
        let lifetime: Duration
    }

    private let minted = Mutex<[Key: ClientSecret]>([:])

    /// The maximum number of cached secrets.
    private static let limit = 1000

    /// Returns a secret with at least half of its lifetime left.
    ///
    /// - Throws: ``ClientSecretError``.
    func secret(
        of client: Client, lifetime: Duration, at now: NumericDate
    ) throws(ClientSecretError) -> ClientSecret {
        let key = Key(
            clientID: client.clientID, teamID: client.teamID, keyID: client.signingKey.id,
            lifetime: lifetime)
        return try minted.withLock { minted throws(ClientSecretError) in
            if let secret = minted[key], secret.isValid(at: now, for: lifetime / 2) {
                return secret
            }
            let secret = try ClientSecret(
                signedBy: client.signingKey, for: client.clientID, of: client.teamID, at: now,
                lifetime: lifetime)
            if minted.count >= Self.limit { minted = [:] }
            minted[key] = secret
            return secret
        }
    }
}
