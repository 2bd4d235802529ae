package import SIWAJOSE
package import SIWALifecycle
package import SIWAVaultRecords

/// The revocation of one token, which is repeated until it ends.
package struct RevocationJob: Hashable, Sendable {
    /// The state of a job, and of the requests that wait for it.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// It waits for its next attempt.
        case pending
        /// The token no longer works.
        case revoked
        /// A code was sent and no response was received, or Apple refused it, perhaps because it
        /// was used before: it is unknown whether a token exists.
        case unknown
        /// It did not succeed within 30 days.
        case dead
    }

    /// What is revoked.
    package enum Kind: String, Hashable, Sendable {
        case refreshToken = "refresh_token"
        case accessToken = "access_token"
        /// A code, which is exchanged once; its refresh token is revoked.
        case code
    }

    /// The number of its row, unique in the database.
    package let number: Int
    /// The client that the token was issued to.
    package let clientID: ClientID
    /// The user, if known.
    package var userID: UserID?
    /// The first 12 hexadecimal digits of the SHA-256 of the token, or of the code.
    package var fingerprint: TokenFingerprint
    /// What is revoked.
    package var kind: Kind
    /// The requested proof.
    package var proof: Revocation.Proof
    /// Whether it is pending, or how it ended.
    package var state: State
    /// The proof so far; committed before the next request is sent.
    package var progress: Revocation
    /// The number of attempts.
    package var attempts: Int
    /// When it was requested.
    package let createdAt: NumericDate
    /// When it is tried next; nil unless it is pending.
    package var nextAttemptAt: NumericDate?
    /// When it ended; nil while it is pending.
    package var endedAt: NumericDate?
    /// Why the last attempt failed; nil without a failed attempt.
    package var lastError: Failure?
    /// Whether the token has another shape than Apple's: that a refresh is refused proves little.
    package var isUnusual: Bool
    /// The token or code, sealed; nil once it is revoked or unknown.
    package var secret: SealedSecret?

    /// Creates a job.
    package init(
        number: Int, clientID: ClientID, userID: UserID?, fingerprint: TokenFingerprint,
        kind: Kind, proof: Revocation.Proof, state: State = .pending,
        progress: Revocation = Revocation(), attempts: Int = 0,
        createdAt: NumericDate, nextAttemptAt: NumericDate? = nil, endedAt: NumericDate? = nil,
        lastError: Failure? = nil, isUnusual: Bool = false, secret: SealedSecret?
    ) {
        (self.number, self.clientID, self.userID) = (number, clientID, userID)
        (self.fingerprint, self.kind, self.proof) = (fingerprint, kind, proof)
        (self.state, self.progress, self.attempts) = (state, progress, attempts)
        (self.createdAt, self.nextAttemptAt) = (createdAt, nextAttemptAt)
        (self.endedAt, self.lastError, self.secret) = (endedAt, lastError, secret)
        self.isUnusual = isUnusual
    }
}

extension RevocationJob {
    /// Why an attempt failed.
    package struct Failure: Hashable, Sendable, CustomStringConvertible {
        /// The error code.
        package let code: String
        /// What happened, as a sentence without a full stop.
        package let message: String

        package init(_ code: String, _ message: String) {
            (self.code, self.message) = (code, message)
        }

        /// `CODE: MESSAGE`
        package var description: String { "\(code): \(message)" }
    }
}

// Clients without a profile.
extension RevocationJob {
    /// The error code of a job whose client is in no profile: nothing can be sent for it.
    package static let clientWithoutProfile = "client_without_profile"

    /// Whether the last attempt failed because no profile has the client.
    package var waitsForProfile: Bool { lastError?.code == Self.clientWithoutProfile }
}

extension RevocationJob {
    /// The place that the encryption of a job's secret authenticates.
    package static func place(
        of fingerprint: TokenFingerprint, _ clientID: ClientID
    ) -> [String] { ["revocation", clientID.rawValue, fingerprint.rawValue] }
}

// The events of a job.
extension RevocationJob {
    /// Notes the result of a revocation.
    ///
    /// - Returns: false if the token still works: the attempt failed, and the next one revokes it
    ///   again.
    package mutating func end(_ revocation: Revocation, at now: NumericDate) -> Bool {
        guard revocation.isDead else {
            progress = Revocation(wasActive: true)
            return false
        }
        progress = revocation
        attempts += 1
        finish(.revoked, at: now)
        return true
    }

    /// Notes that the code was sent and no response was received.
    package mutating func loseCode(at now: NumericDate) {
        attempts += 1
        lastError = nil
        finish(.unknown, at: now)
    }

    /// Notes that Apple refused the code: another attempt cannot help.
    ///
    /// - Parameter isDead: whether an operator must act; not for a wrong code from a caller.
    package mutating func refuseCode(_ error: Failure, isDead: Bool, at now: NumericDate) {
        attempts += 1
        lastError = error
        finish(isDead ? .dead : .unknown, at: now)
        secret = nil
    }

    /// Notes that the code was exchanged: the job now revokes its refresh token.
    package mutating func take(
        _ token: SealedSecret, _ fingerprint: TokenFingerprint, of userID: UserID?
    ) {
        (kind, secret, self.fingerprint) = (.refreshToken, token, fingerprint)
        self.userID = userID ?? self.userID
    }

    /// Notes a failed attempt.
    ///
    /// - Parameters:
    ///   - age: the time since the job was requested.
    ///   - jitter: random, 0..<1.
    /// - Returns: how long to wait before the next attempt; nil if the job is dead now.
    package mutating func fail(
        _ error: Failure, age: Duration, retryAfter: Duration? = nil, jitter: Double,
        at now: NumericDate
    ) -> Duration? {
        attempts += 1
        lastError = error
        let delay = Backoff.revocation.delay(
            after: attempts, age: age, retryAfter: retryAfter, jitter: jitter)
        if delay == nil { finish(.dead, at: now) }
        return delay
    }

    /// Adds another request to the job: the stronger of both proofs is used, unless a request to
    /// Apple was sent already.
    package mutating func join(_ proof: Revocation.Proof) {
        guard attempts == 0, progress.isEmpty else { return }
        if proof.steps.count > self.proof.steps.count { self.proof = proof }
    }

    /// A dead job keeps its token, so that an operator can try again.
    private mutating func finish(_ state: State, at now: NumericDate) {
        (self.state, endedAt, nextAttemptAt) = (state, now, nil)
        if state != .dead { secret = nil }
    }
}
