internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// A requested revocation: the kind of the token, the proof, and the client.
struct RevocationOrder: Sendable {
    let kind: TokenKind
    let proof: Revocation.Proof
    let requests: Requests

    var session: Session { requests.session }
    var clientID: ClientID { requests.client.clientID }

    /// The same revocation with another proof.
    func proving(_ proof: Revocation.Proof) -> Self {
        Self(kind: kind, proof: proof, requests: requests)
    }

    /// The requests that can be sent about a token, in their order.
    func sequence(_ token: SecretText) -> [TokenRequest] {
        proof.steps.map { $0.request(token, kind) }
    }

    /// Revokes a token and obtains the proof.
    ///
    /// - Parameter work: the work that a signal interrupts.
    func carryOut(
        _ token: SecretText, as work: EndingPlan.Work = .change
    ) async throws(RequestError) -> Revocation {
        try await requests.perform(as: work) { tokens throws(TokenFailure) in
            try await tokens.revoke(token, as: kind, proof: proof)
        }
    }

    /// The result for a token.
    func report(_ revocation: Revocation, of token: SecretText) -> Report {
        let report = RevocationReport(
            revocation, of: token, kind, clientID, at: session.world.clocks.now())
        return Report(.object(report.members), of: .revocation(isDone: revocation.isDead))
    }

    /// Revokes a token that was given.
    func revoke(_ token: SecretText, _ look: TokenLook) async throws {
        var revocation = try await carryOut(token)
        revocation.isUnusual = look.isUnusual
        warnIfNothingWasSent(revocation)
        try session.report(report(revocation, of: token))
        try checkDead(revocation)
        try revocation.checkProof()
    }

    /// Warns before a text is sent that does not have the shape of a token.
    func warn(of look: TokenLook) {
        guard case .unusual(let slip) = look else { return }
        let likely = slip.map { ": it looks like \($0.description)" } ?? ""
        // --check-first needs a refresh token.
        let check =
            kind == .refreshToken ? "--check-first tells whether it is one" : "check that it is one"
        let advice = slip?.advice ?? check
        session.console.warn(
            "--token does not have the shape of Apple's \(kind.plural)\(likely); \(advice)")
    }

    /// Warns if the first refresh was refused, because the settings may be wrong.
    func warnIfNothingWasSent(_ revocation: Revocation) {
        guard revocation.wasActive == false else { return }
        session.console.warn(
            "nothing was sent: the token is dead already, or another client's; "
                + "check --client-id and --profile")
    }

    /// Fails for a token that still works.
    func checkDead(_ revocation: Revocation) throws(Diagnosis) {
        guard revocation.evidence == .refreshAccepted else { return }
        throw Diagnosis.negative(
            .notRevoked,
            "Apple answered \(revocation.status ?? 0), but the token still works",
            hints: ["check that the token belongs to this client: --client-id, --profile"],
            requestID: revocation.requestID)
    }
}

extension TokenKind: ParameterValue {}

extension Deed {
    /// A revocation was sent.
    ///
    /// - Parameter isDone: whether the token no longer works, as far as known.
    static func revocation(isDone: Bool) -> Deed {
        Deed(
            isDone ? "the token was revoked" : "the revocation was sent, and the token still works",
            hint: "revoking again is harmless: fix standard output, then run it again")
    }
}

extension TokenKind {
    fileprivate var plural: String {
        switch self {
        case .refreshToken: "refresh tokens"
        case .accessToken: "access tokens"
        }
    }
}

extension TokenSlip {
    /// How to give it correctly.
    fileprivate var advice: String {
        switch self {
        case .fileName: "--token @PATH reads a file"
        case .userID: "--user revokes the stored tokens of a user"
        case .code: "--code exchanges a code and revokes its token"
        case .refreshToken: "leave out --kind access_token"
        case .accessToken: "add --kind access_token"
        case .percentEncoded: "decode it first: %2E is a dot"
        }
    }
}
