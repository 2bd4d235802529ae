internal import SIWAApplication
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
    private let minting = JoinedCalls<Key, Result<ClientSecret, Problem>>()
    /// When signers were asked in the last minute, by profile.
    private let asked = Mutex<[String: [NumericDate]]>([:])

    /// The maximum number of cached secrets.
    private static let limit = 1000

    /// Returns a secret with at least half of its lifetime left. Concurrent callers share a
    /// signature.
    func secret(
        of client: Client, _ profile: ProfileClient, lifetime: Duration, at now: NumericDate
    ) async throws(Problem) -> ClientSecret {
        let key = Key(
            clientID: client.clientID, teamID: client.teamID, keyID: client.signingKey.id,
            lifetime: lifetime)
        if let secret = minted.withLock({ $0[key] }), secret.isValid(at: now, for: lifetime / 2) {
            return secret
        }
        return try await minting.join(key) { [self] in
            do {
                if let denial = profile.secrets.denial { throw denial }
                if profile.isSignedElsewhere { try limit(profile.name, at: now) }
                let secret = try await profile.secrets.mint(client, lifetime: lifetime, at: now)
                minted.withLock { minted in
                    if minted.count >= Self.limit { minted = [:] }
                    minted[key] = secret
                }
                return .success(secret)
            } catch let problem as Problem {
                return .failure(problem)
            } catch {
                return .failure(Problem(Diagnosis(error)))
            }
        }.get()
    }

    /// Signers cost money, and their time: callers keep what they get.
    private func limit(_ profile: String, at now: NumericDate) throws(Problem) {
        let oldest = asked.withLock { asked -> NumericDate? in
            let recent = (asked[profile] ?? []).filter { now - $0 < .seconds(60) && $0 <= now }
            asked[profile] = recent
            guard recent.count >= Self.mostSignatures else {
                asked[profile]?.append(now)
                return nil
            }
            return recent[0]
        }
        guard let oldest else { return }
        throw Problem(
            .tooManyRequests, .throttled,
            "the signer was asked for \(Self.mostSignatures) secrets of this profile within a minute",
            hints: ["keep a secret until its max-age is over, and ask for the same lifetime"],
            exitCode: .temporary, retryAfter: .seconds(60) - (now - oldest))
    }

    /// The most signatures of a signer for a profile and minute.
    private static let mostSignatures = 4
}
