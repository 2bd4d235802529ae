/// The requests that revoke a token and prove it, in their order, and what the answers prove.
///
/// A pure value. ``TokenClient/revoke(_:as:proof:)`` and ``RevokeJob`` send the request of each
/// step and pass on Apple's answer, so that both follow the same rules:
///
/// - A refresh refused with `invalid_grant` proves that the token does not work.
/// - `invalid_request` proves it only after a refresh that worked in the same run: Apple has sent
///   it for revoked tokens, but also sends it for malformed requests.
/// - Every other refusal proves nothing.
package struct RevocationProof: Sendable {
    /// A request to Apple.
    package enum Step: Hashable, Sendable {
        /// A refresh that shows whether the token works before it is revoked.
        case refreshBefore
        /// The request that revokes the token.
        case revoke
        /// A refresh that shows whether the token works after it was revoked.
        case refreshAfter
    }

    /// The conclusion from an answer.
    package enum Conclusion: Sendable {
        /// The next step is needed.
        case next
        /// The proof is complete.
        case known(Revocation)
        /// The step was refused in a way that proves nothing.
        case refused(AppleError)
    }

    /// The current step.
    package private(set) var step: Step

    private let confirms: Bool
    private var wasActive: Bool?
    private var answered: AcceptedAnswer?

    /// Begins with the first step of a proof, or continues after earlier steps.
    package init(_ proof: Revocation.Proof, after progress: Revocation = Revocation()) {
        confirms = proof.refreshesAfterwards
        wasActive = progress.wasActive
        answered = progress.status.map {
            AcceptedAnswer(status: $0, requestID: progress.requestID)
        }
        step =
            confirms && answered != nil
            ? .refreshAfter
            : proof.refreshesBefore && wasActive == nil ? .refreshBefore : .revoke
    }

    /// The progress so far, with which another run can continue after a crash.
    package var progress: Revocation {
        Revocation(
            status: answered?.status, wasActive: wasActive, requestID: answered?.requestID)
    }

    /// Takes Apple's acceptance of the current step.
    mutating func take(_ answer: AcceptedAnswer) -> Conclusion {
        switch step {
        case .refreshBefore:
            (step, wasActive) = (.revoke, true)
            return .next
        case .revoke:
            answered = answer
            guard confirms else { return .known(revocation(nil, after: answer)) }
            step = .refreshAfter
            return .next
        case .refreshAfter: return .known(revocation(.refreshAccepted, after: answer))
        }
    }

    /// Takes Apple's refusal of the current step.
    mutating func take(_ refusal: AppleError) -> Conclusion {
        guard proves(refusal) else { return .refused(refusal) }
        if step == .refreshBefore { wasActive = false }
        return .known(
            revocation(
                wasActive == true ? .acceptedThenRejected : .refreshRejected,
                after: AcceptedAnswer(status: refusal.status, requestID: refusal.requestID)))
    }

    /// Whether a refusal of the current step shows that the token does not work.
    private func proves(_ refusal: AppleError) -> Bool {
        guard step != .revoke else { return false }
        return refusal.code == .invalidGrant
            || refusal.code == .invalidRequest && wasActive == true
    }

    private func revocation(
        _ evidence: Revocation.Evidence?, after last: AcceptedAnswer
    ) -> Revocation {
        Revocation(
            status: answered?.status, wasActive: wasActive, evidence: evidence,
            refreshStatus: evidence == nil ? nil : last.status,
            requestID: answered?.requestID ?? last.requestID)
    }
}

/// The part of a 2xx response that is kept: its status, and Apple's id of the request.
package struct AcceptedAnswer: Sendable {
    let status: Int
    let requestID: String?
}

extension RevocationProof.Step {
    /// The request of the step.
    package func request(_ token: SecretText, _ kind: TokenKind) -> TokenRequest {
        self == .revoke ? .revoke(token, kind) : .refresh(RefreshToken(token))
    }

    /// Reads a 2xx answer to the step; nil if it is not Apple's, such as a page of a captive
    /// portal.
    func read(_ response: HTTPResponse) -> AcceptedAnswer? {
        let isApples = self == .revoke ? !response.isHTML : TokenResponse(response.body) != nil
        guard isApples else { return nil }
        return AcceptedAnswer(status: response.status, requestID: response.requestID)
    }
}

extension Revocation.Proof {
    /// Whether a refresh comes before the revocation.
    var refreshesBefore: Bool { self == .before || self == .beforeAndAfterwards }

    /// Whether a refresh comes after the revocation.
    var refreshesAfterwards: Bool { self == .afterwards || self == .beforeAndAfterwards }

    /// All steps that the proof can have.
    package var steps: [RevocationProof.Step] {
        (refreshesBefore ? [.refreshBefore] : []) + [.revoke]
            + (refreshesAfterwards ? [.refreshAfter] : [])
    }
}
