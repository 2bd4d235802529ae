/// The result of a revocation. Apple answers 200 to anything, so its answer alone proves nothing; a
/// refused refresh afterwards is proof.
package struct Revocation: Hashable, Sendable {
    /// The evidence that the token is dead, or that it still works.
    package enum Evidence: String, Sendable {
        /// A refresh afterwards was refused.
        case refreshRejected = "refresh_rejected"
        /// A refresh afterwards still worked.
        case refreshAccepted = "refresh_accepted"
        /// A refresh worked before and was refused afterwards: this call revoked the token.
        case acceptedThenRejected = "refresh_accepted_then_rejected"
    }

    /// Which proof to obtain, with the names that siwa-server has for it.
    package enum Proof: String, Hashable, Sendable, CaseIterable {
        /// No proof: one request.
        case none
        /// Refresh before, and do not revoke if the token is dead already.
        case before = "check"
        /// Refresh afterwards.
        case afterwards = "confirm"
        /// Refresh before and afterwards.
        case beforeAndAfterwards = "check_first"
    }

    /// The status of Apple's answer; nil if no revocation was sent because the token was dead
    /// already.
    package var status: Int?
    /// Whether the token worked before; nil if no refresh showed it.
    package var wasActive: Bool?
    /// The evidence; nil if no refresh was requested.
    package var evidence: Evidence?
    /// The status of the answer to the refresh that ``evidence`` comes from.
    package var refreshStatus: Int?
    /// Apple's id of the revocation, or of the refresh if none was sent; nil if Apple sent no id.
    package var requestID: String?
    /// Whether the text lacks the shape of a token; see ``judgeRevocable(_:as:)``.
    package var isUnusual = false

    /// Creates a result; by default one of which nothing is known yet.
    package init(
        status: Int? = nil, wasActive: Bool? = nil, evidence: Evidence? = nil,
        refreshStatus: Int? = nil, requestID: String? = nil
    ) {
        (self.status, self.wasActive, self.evidence) = (status, wasActive, evidence)
        (self.refreshStatus, self.requestID) = (refreshStatus, requestID)
    }

    /// Whether nothing is known yet.
    package var isEmpty: Bool { self == Self() }

    /// The status of the answer to the revocation, or to the refresh if no revocation was sent.
    package var answerStatus: Int? { status ?? refreshStatus }

    /// Whether a refused refresh proved the token dead.
    package var isProven: Bool { evidence.map(\.showsDead) == true && !isRefusalWorthless }

    /// Whether a refresh proved the token dead after its revocation was sent.
    package var isConfirmed: Bool { status != nil && isProven }

    /// Whether the revocation was sent, and the refused refresh after it proves nothing.
    package var isUnproven: Bool { status != nil && isRefusalWorthless }

    /// Apple refuses what never was a token, too.
    private var isRefusalWorthless: Bool { isUnusual && evidence == .refreshRejected }

    /// Whether the token was revoked by this call, as far as known.
    package var isRevoked: Bool { status != nil && evidence != .refreshAccepted }

    /// Whether the token no longer works, as far as known.
    package var isDead: Bool { isRevoked || wasActive == false }
}

extension Revocation.Evidence {
    /// Whether the last refresh was refused.
    package var showsDead: Bool { self != .refreshAccepted }
}

extension TokenClient {
    /// Revokes a token and obtains the requested proof; see ``RevocationProof``. Proof requires a
    /// refresh token.
    package func revoke(
        _ token: SecretText, as kind: TokenKind, proof wanted: Revocation.Proof
    ) async throws(TokenFailure) -> Revocation {
        var proof = RevocationProof(wanted)
        while true {
            if let revocation = try await advance(&proof, token, as: kind) { return revocation }
        }
    }

    /// Sends the request of the current step of a proof.
    ///
    /// - Returns: the result; nil if another step is needed.
    package func advance(
        _ proof: inout RevocationProof, _ token: SecretText, as kind: TokenKind
    ) async throws(TokenFailure) -> Revocation? {
        let step = proof.step
        do {
            let answer = try await send(step.request(token, kind), read: step.read)
            guard case .known(let revocation) = proof.take(answer) else { return nil }
            return revocation
        } catch {
            guard let known = proof.conclusion(of: error) else {
                throw step == .refreshAfter ? error.describing(.refreshAfterRevocation) : error
            }
            return known
        }
    }
}

extension RevocationProof {
    /// What a failure of the current step proves; nil if it proves nothing.
    fileprivate mutating func conclusion(of failure: TokenFailure) -> Revocation? {
        guard case .refused(let refusal) = failure.cause, case .known(let known) = take(refusal)
        else { return nil }
        return known
    }
}
