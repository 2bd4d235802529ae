package import Lifecycle

/// How a revocation is proved. Apple answers 200 to any text, so its answer alone proves nothing.
public enum RevocationProofLevel: Sendable, CaseIterable {
    /// Sends the revocation only.
    case none
    /// Refreshes afterwards: a refusal shows that the token does not work.
    case confirm
    /// Refreshes before and afterwards, which shows that this call revoked the token. Nothing is
    /// sent to revoke a token that Apple refuses already.
    case beforeAndAfter

    package var steps: Revocation.Proof {
        switch self {
        case .none: .none
        case .confirm: .afterwards
        case .beforeAndAfter: .beforeAndAfterwards
        }
    }
}

/// What is known of a token after its revocation.
public struct RevocationResult: Hashable, Sendable {
    /// What shows that a token works or not.
    public enum Evidence: String, Sendable, CaseIterable {
        /// A refresh worked before and was refused afterwards: this call revoked the token.
        case refreshAcceptedThenRejected = "refresh_accepted_then_rejected"
        /// A refresh was refused.
        case refreshRejected = "refresh_rejected"
        /// A refresh afterwards still worked: the token is not revoked.
        case refreshAccepted = "refresh_accepted"
    }

    /// What the refreshes showed; nil without one.
    public let evidence: Evidence?
    /// Whether the token worked before; nil if that was not asked.
    public let wasActive: Bool?
    /// Whether the token no longer works, as far as known.
    public let isDead: Bool
    /// The status of Apple's response to the revocation; nil if none was sent, because Apple
    /// refused the token already.
    public let status: Int?
    /// Apple's id of the request, which its support asks for; nil if it sent none.
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

extension SignInWithAppleClient {
    /// Revokes a refresh token, as App Store review requires when a user deletes the account.
    ///
    /// Revoking twice does no harm: after a failure, call it again.
    ///
    /// - Parameters:
    ///   - token: the refresh token.
    ///   - proof: what to prove.
    ///   - timeout: the time for all requests together.
    /// - Returns: what is known of the token.
    /// - Throws: ``SignInWithAppleError``. A token that still works is no error: see
    ///   ``RevocationResult/isDead``.
    @discardableResult
    public func revoke(
        _ token: String, proof: RevocationProofLevel = .beforeAndAfter, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> RevocationResult {
        RevocationResult(
            try await revocation(of: opaque(token, "the refresh token"), proof.steps, timeout))
    }

    /// Revokes an access token, and with it the session that it belongs to. This cannot be proved:
    /// prefer the refresh token.
    ///
    /// - Parameters:
    ///   - accessToken: the access token.
    ///   - timeout: the time for the request and its retries.
    /// - Returns: what is known of the token, without proof.
    /// - Throws: ``SignInWithAppleError``.
    @discardableResult
    public func revoke(
        accessToken: String, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> RevocationResult {
        RevocationResult(
            try await revocation(
                of: opaque(accessToken, "the access token"), as: .accessToken, .none, timeout))
    }

    package func revocation(
        of token: SecretText, as kind: TokenKind = .refreshToken, _ proof: Revocation.Proof,
        _ timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> Revocation {
        let requests = requests(delivery(timeout))
        return try await answer { () async throws(TokenFailure) in
            try await requests.revoke(token, as: kind, proof: proof)
        }
    }
}
