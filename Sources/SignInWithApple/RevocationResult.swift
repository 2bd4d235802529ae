package import Lifecycle

/// How a revocation is proved. Apple answers 200 for any text, so its answer alone proves nothing.
public enum RevocationProofLevel: Sendable, CaseIterable {
    /// Sends the revocation only.
    case none
    /// Refreshes afterwards: a refusal shows that the token does not work.
    case confirm
    /// Refreshes before and afterwards, which shows that this call revoked the token. No revocation
    /// is sent for a token that Apple already refuses.
    case beforeAndAfter

    package var steps: Revocation.Proof {
        switch self {
        case .none: .none
        case .confirm: .afterwards
        case .beforeAndAfter: .beforeAndAfterwards
        }
    }
}

/// The result of a revocation.
public struct RevocationResult: Hashable, Sendable {
    /// The evidence that a token works or does not work.
    public enum Evidence: String, Sendable, CaseIterable {
        /// A refresh worked before and was refused afterwards: this call revoked the token.
        case refreshAcceptedThenRejected = "refresh_accepted_then_rejected"
        /// A refresh was refused.
        case refreshRejected = "refresh_rejected"
        /// A refresh afterwards still worked: the token is not revoked.
        case refreshAccepted = "refresh_accepted"
    }

    /// The evidence of the refreshes; nil without a refresh.
    public let evidence: Evidence?
    /// Whether the token worked before; nil if that was not checked.
    public let wasActive: Bool?
    /// Whether the token no longer works, as far as known: without a proof, whether Apple accepted
    /// the revocation.
    public let isDead: Bool
    /// The status of Apple's response to the revocation; nil if none was sent, because Apple
    /// refused the token already.
    public let status: Int?
    /// Apple's id of the request, for Apple's support; nil if absent.
    public let requestID: String?

    package init(_ revocation: Revocation) {
        evidence = revocation.evidence.map { evidence in
            switch evidence {
            case .refreshRejected: .refreshRejected
            case .refreshAccepted: .refreshAccepted
            case .acceptedThenRejected: .refreshAcceptedThenRejected
            }
        }
        (wasActive, isDead) = (revocation.wasActive, revocation.isDead)
        (status, requestID) = (revocation.status, revocation.requestID)
    }
}
