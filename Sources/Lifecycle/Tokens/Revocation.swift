/// What is known of a revocation. Apple answers 200 to anything, so its answer alone
/// proves nothing; a refresh that is refused afterwards does.
package struct Revocation: Sendable {
    /// What shows that the token is dead, or that it is not.
    package enum Evidence: String, Sendable {
        /// A refresh afterwards was refused.
        case refreshRejected = "refresh_rejected"
        /// A refresh afterwards still worked.
        case refreshAccepted = "refresh_accepted"
        /// A refresh worked before and was refused afterwards: this call revoked the token.
        case acceptedThenRejected = "refresh_accepted_then_rejected"
    }

    /// Which proof to obtain.
    package enum Proof: Sendable, CaseIterable {
        /// Without proof: one request.
        case none
        /// Refreshes before, and does not revoke if the token is dead already.
        case before
        /// Refresh afterwards.
        case afterwards
        /// Refresh before and afterwards.
        case beforeAndAfterwards
    }

    /// The status of Apple's answer; nil if the token was dead already, so that none was sent.
    package let status: Int?
    /// Whether the token worked before; nil when no refresh showed it.
    package let wasActive: Bool?
    /// What is proven; nil when no refresh was asked for.
    package let evidence: Evidence?
    /// The status of the answer to the refresh that ``evidence`` comes from.
    package let refreshStatus: Int?
    /// Apple's id of the revocation, else of the refresh; nil if Apple sent none.
    package let requestID: String?

    /// Says what is known.
    package init(
        status: Int?, wasActive: Bool?, evidence: Evidence?, refreshStatus: Int? = nil,
        requestID: String? = nil
    ) {
        (self.status, self.wasActive, self.evidence) = (status, wasActive, evidence)
        (self.refreshStatus, self.requestID) = (refreshStatus, requestID)
    }

    /// The status of the answer to the revocation, else to the refresh.
    package var answerStatus: Int? { status ?? refreshStatus }

    /// Whether a refresh proved the token dead after its revocation was sent.
    package var isConfirmed: Bool { status != nil && evidence.map(\.showsDead) == true }

    /// Whether, for all that is known, the token was revoked by this call.
    package var isRevoked: Bool { status != nil && evidence != .refreshAccepted }

    /// Whether the token no longer works, as far as known.
    package var isDead: Bool { isRevoked || wasActive == false }
}

extension Revocation.Evidence {
    /// Whether the last refresh was refused.
    package var showsDead: Bool { self != .refreshAccepted }
}

extension TokenClient {
    /// Revokes a token and gathers the proof asked for; see ``RevocationProof``. Proof needs a
    /// refresh token.
    package func revoke(
        _ token: SecretText, as kind: TokenKind, proof wanted: Revocation.Proof
    ) async throws(TokenFailure) -> Revocation {
        var proof = RevocationProof(wanted)
        while true {
            if let revocation = try await advance(&proof, token, as: kind) { return revocation }
        }
    }

    /// Takes the current step of a proof: sends one request about the token.
    ///
    /// - Returns: the result; nil if another step has to be taken.
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
    /// What a failure of the current step proves; nil when it proves nothing.
    fileprivate mutating func conclusion(of failure: TokenFailure) -> Revocation? {
        guard case .refused(let refusal) = failure.cause, case .known(let known) = take(refusal)
        else { return nil }
        return known
    }
}
