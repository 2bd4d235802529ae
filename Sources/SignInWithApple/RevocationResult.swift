package import SIWALifecycle

/// How a revocation is proved. Apple answers 200 for any text, so its answer alone proves nothing.
///
/// An open set: later versions may add levels.
public struct RevocationProofLevel: Hashable, Sendable {
    package let steps: Revocation.Proof

    /// Sends the revocation only.
    public static let none = Self(steps: .none)
    /// Refreshes afterwards: a refusal shows that the token does not work.
    public static let confirm = Self(steps: .afterwards)
    /// Refreshes before and afterwards, which shows that this call revoked the token. No revocation
    /// is sent for a token that Apple already refuses.
    public static let beforeAndAfter = Self(steps: .beforeAndAfterwards)
}

/// The result of a revocation.
public struct RevocationResult: Hashable, Sendable {
    /// The evidence that a token works or does not work.
    ///
    /// An open set: later versions may add kinds.
    public struct Evidence: RawRepresentable, Hashable, Sendable {
        /// The name in snake_case, as `siwa revoke --json` prints it.
        public let rawValue: String

        /// Creates evidence from any name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A refresh worked before and was refused afterwards: this call revoked the token.
        public static let refreshAcceptedThenRejected = Self(
            rawValue: "refresh_accepted_then_rejected")
        /// A refresh was refused.
        public static let refreshRejected = Self(rawValue: "refresh_rejected")
        /// A refresh afterwards still worked: the token is not revoked.
        public static let refreshAccepted = Self(rawValue: "refresh_accepted")
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

    /// Creates a result, for tests.
    public init(
        evidence: Evidence? = nil, wasActive: Bool? = nil, isDead: Bool, status: Int? = nil,
        requestID: String? = nil
    ) {
        (self.evidence, self.wasActive, self.isDead) = (evidence, wasActive, isDead)
        (self.status, self.requestID) = (status, requestID)
    }

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
