package import JOSE
package import Lifecycle

/// The revocation of one token, which is tried until it ends.
package struct RevocationJob: Hashable, Sendable {
    /// What becomes of a job, and of the requests that wait for it.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// It is tried again.
        case pending
        /// The token does not work any more.
        case revoked
        /// A code was sent and no answer came: whether there is a token is not known.
        case unknown
        /// It was tried for 30 days.
        case dead
    }

    /// What is revoked.
    package enum Kind: String, Hashable, Sendable {
        case refreshToken = "refresh_token"
        case accessToken = "access_token"
        /// A code, which is exchanged once; its refresh token is revoked.
        case code
    }

    /// Which proof is asked for.
    package enum Proof: String, Hashable, Sendable, CaseIterable {
        /// One request.
        case none
        /// A refresh afterwards.
        case confirm
        /// A refresh before and afterwards.
        case checkFirst = "check_first"

        /// The requests that it takes.
        package var requests: Revocation.Proof {
            switch self {
            case .none: .none
            case .confirm: .afterwards
            case .checkFirst: .beforeAndAfterwards
            }
        }
    }

    /// Its number.
    package let number: Int
    /// The client that the token was issued to.
    package let clientID: ClientID
    /// The user, as far as known.
    package var userID: UserID?
    /// The first 12 hexadecimal digits of the SHA-256 of the token, or of the code.
    package var fingerprint: TokenFingerprint
    /// What is revoked.
    package var kind: Kind
    /// Which proof is asked for.
    package var proof: Proof
    /// What became of it.
    package var state: State
    /// What is proven so far; committed before the next request is sent.
    package var progress: RevocationProof.Progress
    /// How often it was tried.
    package var attempts: Int
    /// When it was ordered.
    package let createdAt: NumericDate
    /// When it is tried next; nil unless it is pending.
    package var nextAttemptAt: NumericDate?
    /// When it ended; nil while it is pending.
    package var endedAt: NumericDate?
    /// Why the last attempt failed; nil without a failed attempt.
    package var lastError: String?
    /// The token or code, sealed; nil once it is revoked or unknown.
    package var secret: SealedSecret?

    /// Describes a job.
    package init(
        number: Int, clientID: ClientID, userID: UserID?, fingerprint: TokenFingerprint,
        kind: Kind, proof: Proof, state: State = .pending,
        progress: RevocationProof.Progress = RevocationProof.Progress(), attempts: Int = 0,
        createdAt: NumericDate, nextAttemptAt: NumericDate? = nil, endedAt: NumericDate? = nil,
        lastError: String? = nil, secret: SealedSecret?
    ) {
        (self.number, self.clientID, self.userID) = (number, clientID, userID)
        (self.fingerprint, self.kind, self.proof) = (fingerprint, kind, proof)
        (self.state, self.progress, self.attempts) = (state, progress, attempts)
        (self.createdAt, self.nextAttemptAt) = (createdAt, nextAttemptAt)
        (self.endedAt, self.lastError, self.secret) = (endedAt, lastError, secret)
    }
}

// What happens to a job.
extension RevocationJob {
    /// The revocation ended, with this result.
    ///
    /// - Returns: false if the token still works: the attempt failed, and the next one revokes it
    ///   again.
    package mutating func end(_ revocation: Revocation, at now: NumericDate) -> Bool {
        guard revocation.isDead else {
            progress = RevocationProof.Progress(wasActive: true)
            return false
        }
        progress = RevocationProof.Progress(revocation)
        attempts += 1
        finish(.revoked, at: now)
        return true
    }

    /// The code was sent and no answer came.
    package mutating func loseCode(at now: NumericDate) {
        attempts += 1
        finish(.unknown, at: now)
    }

    /// Apple refused the code: there is no token to revoke, and trying again is of no use.
    package mutating func refuseCode(_ error: String, at now: NumericDate) {
        attempts += 1
        lastError = error
        finish(.dead, at: now)
        secret = nil
    }

    /// The code was exchanged: its refresh token is revoked from now on.
    package mutating func take(
        _ token: SealedSecret, _ fingerprint: TokenFingerprint, of userID: UserID?
    ) {
        (kind, secret, self.fingerprint) = (.refreshToken, token, fingerprint)
        self.userID = userID ?? self.userID
    }

    /// An attempt failed.
    ///
    /// - Parameters:
    ///   - age: how long ago the job was ordered.
    ///   - jitter: 0..<1, random.
    /// - Returns: how long to wait before the next attempt; nil if the job is dead now.
    package mutating func fail(
        _ error: String, age: Duration, retryAfter: Duration? = nil, jitter: Double,
        at now: NumericDate
    ) -> Duration? {
        attempts += 1
        lastError = error
        let delay = Backoff.revocation.delay(
            after: attempts, age: age, retryAfter: retryAfter, jitter: jitter)
        if delay == nil { finish(.dead, at: now) }
        return delay
    }

    /// Another request waits for the same job: the stronger proof is gathered, unless something
    /// was sent already.
    package mutating func join(_ proof: Proof) {
        guard attempts == 0, progress.isEmpty else { return }
        if proof.requests.steps.count > self.proof.requests.steps.count { self.proof = proof }
    }

    /// A dead job keeps its token, so that an operator can try again.
    private mutating func finish(_ state: State, at now: NumericDate) {
        (self.state, endedAt, nextAttemptAt) = (state, now, nil)
        if state != .dead { secret = nil }
    }
}
