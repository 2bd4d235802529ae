internal import JOSE
internal import Lifecycle
internal import LocalFiles
internal import SIWACrypto

// Revoking a token for which a code is exchanged first.
extension RevocationOrder {
    /// Prints the requests for a code in a dry run.
    func dryRun(_ code: AuthorizationCode) throws {
        let unknown = SecretText("the \(kind.rawValue) of the answer")
        try requests.dryRun(
            [requests.exchange(of: code)] + sequence(unknown), unknown: unknown)
    }

    /// Exchanges the code first. Only this process has the tokens then, so they are printed unless
    /// the requested one was revoked.
    func revoke(_ code: AuthorizationCode) async throws {
        try requests.checkOutput()
        let answer = try await requests.perform(as: .code) { tokens throws(TokenFailure) in
            try await tokens.exchange(
                code, redirectURI: requests.redirectURI, codeVerifier: requests.codeVerifier)
        }
        guard let token = answer.token(kind) else {
            try requests.reportOnce(
                handingOut(answer, answer.accessToken.text, wasAsked: false), isWhole: true)
            throw Diagnosis.negative(
                "no_refresh_token",
                "the code was exchanged, but Apple's answer has no refresh token",
                hints: ["ask for a new sign-in and use --kind access_token"],
                requestID: answer.requestID)
        }
        let remedy =
            "the code is spent, but the token was printed: "
            + "siwa revoke --token - --kind \(kind.rawValue)"
        guard session.world.ending.signal == nil else {
            try requests.reportOnce(handingOut(answer, token, wasAsked: false), isWhole: true)
            throw Diagnosis(
                "outcome_unknown",
                "the code was exchanged, but a signal came before its token was revoked",
                hints: [remedy], exitCode: .outcomeUnknown)
        }
        do {
            try report(try await carryOut(token, as: .revoking), of: token, answer)
        } catch var error as RequestError {
            try requests.reportOnce(handingOut(answer, token, wasAsked: true), isWhole: true)
            error.remedy = remedy
            throw error
        }
    }

    private func report(
        _ revocation: Revocation, of token: SecretText, _ answer: TokenResponse
    ) throws {
        warnIfNothingWasSent(revocation)
        let report = report(revocation, of: token)
        if revocation.isDead {
            try requests.reportOnce(report, code: .revoked)
        } else {
            let members = (report.json.members ?? []) + tokenMembers(answer)
            try requests.reportOnce(
                Report(.object(members), of: .exchange(isStored: false)), isWhole: true)
        }
        try checkDead(revocation)
    }

    /// The result if a token could not be revoked. It contains the tokens: without them, nothing
    /// could be revoked before the user signs in again.
    ///
    /// - Parameter wasAsked: whether Apple may have revoked the token, whose state is then unknown.
    private func handingOut(
        _ answer: TokenResponse, _ token: SecretText, wasAsked: Bool
    ) -> Report {
        let revoked: [JSON.Member] = wasAsked ? [] : [.init("revoked", false)]
        let members: [JSON.Member] = [
            .init("confirmed", false), .init("kind", .string(kind.rawValue)),
            .init("client_id", .string(clientID.rawValue)),
            .init("token_fingerprint", .string(token.fingerprint)),
            .init("at", .string(session.world.clocks.now().rfc3339)),
        ]
        return Report(
            .object(revoked + members + tokenMembers(answer)), of: .exchange(isStored: false))
    }

    private func tokenMembers(_ answer: TokenResponse) -> [JSON.Member] {
        let refreshToken = answer.refreshToken.map {
            JSON.Member("refresh_token", .string($0.text.revealed()))
        }
        let accessToken = JSON.Member("access_token", .string(answer.accessToken.text.revealed()))
        let requestID = answer.requestID.map { JSON.Member("apple_request_id", .string($0)) }
        return [refreshToken, accessToken, requestID].compactMap(\.self)
    }
}

extension TokenResponse {
    /// The token of this kind; nil if the response has no such token.
    fileprivate func token(_ kind: TokenKind) -> SecretText? {
        switch kind {
        case .accessToken: accessToken.text
        case .refreshToken: refreshToken?.text
        }
    }
}
