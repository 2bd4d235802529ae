/// What is known of a revocation. Apple answers 200 to anything, so its answer alone
/// proves nothing; a refresh that fails afterwards does.
public struct Revocation: Sendable {
    /// What shows that the token is dead, or that it is not.
    public enum Evidence: String, Sendable {
        /// A refresh afterwards was refused.
        case refreshRejected = "refresh_rejected"
        /// A refresh afterwards still worked.
        case refreshAccepted = "refresh_accepted"
        /// A refresh worked before and was refused afterwards: this call did it.
        case acceptedThenRejected = "refresh_accepted_then_rejected"
    }

    /// Which proof to seek.
    public enum Proof: Sendable {
        /// None: one request.
        case none
        /// Refresh afterwards.
        case afterwards
        /// Refresh before and afterwards.
        case beforeAndAfterwards
    }

    /// The status of Apple's answer; nil when nothing was sent, because the token was dead.
    public let status: Int?
    /// Whether the token worked before; nil when nobody looked.
    public let wasActive: Bool?
    /// What is proven; nil when nobody looked.
    public let evidence: Evidence?

    /// Says what is known.
    public init(status: Int?, wasActive: Bool?, evidence: Evidence?) {
        (self.status, self.wasActive, self.evidence) = (status, wasActive, evidence)
    }

    /// Whether a refresh proved the token dead after it was sent.
    public var isConfirmed: Bool {
        status != nil && (evidence == .refreshRejected || evidence == .acceptedThenRejected)
    }

    /// Whether, for all that is known, the token was revoked by this call.
    public var isRevoked: Bool { status != nil && evidence != .refreshAccepted }
}

extension TokenClient {
    /// Revokes a token and gathers the proof asked for. Proof needs a refresh token.
    public func revoke(
        _ token: SecretText, as kind: TokenKind, proof: Revocation.Proof
    ) async throws(TokenFailure) -> Revocation {
        let wasActive = proof == .beforeAndAfterwards ? try await isActive(token) : nil
        if wasActive == false {
            return Revocation(status: nil, wasActive: false, evidence: .refreshRejected)
        }
        let status = try await revoke(token, as: kind)
        guard proof != .none else {
            return Revocation(status: status, wasActive: nil, evidence: nil)
        }
        let isStillActive: Bool
        do {
            isStillActive = try await isActive(token, wasActive: wasActive ?? false)
        } catch {
            throw error.describing(.refreshAfterRevocation)
        }
        let evidence: Revocation.Evidence =
            isStillActive
            ? .refreshAccepted : wasActive == true ? .acceptedThenRejected : .refreshRejected
        return Revocation(status: status, wasActive: wasActive, evidence: evidence)
    }

    /// Whether a refresh works. Apple has also answered a bare `invalid_request` for a
    /// revoked token: that counts only for one whose same request worked a moment ago.
    private func isActive(
        _ token: SecretText, wasActive: Bool = false
    ) async throws(TokenFailure) -> Bool {
        do {
            _ = try await refresh(RefreshToken(token))
            return true
        } catch {
            guard case .refused(let refusal) = error.cause,
                refusal.code == .invalidGrant || wasActive && refusal.code == .invalidRequest
            else { throw error }
            return false
        }
    }
}
