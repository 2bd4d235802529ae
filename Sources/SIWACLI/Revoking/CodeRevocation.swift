internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

// Revoking a token for which a code is exchanged first.
extension RevocationOrder {
    /// Prints the requests for a code in a dry run.
    func dryRun(_ code: AuthorizationCode) async throws {
        let unknown = SecretText("the \(kind.rawValue) of the answer")
        try await requests.dryRun(
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
        let token: SecretText
        do throws(UnusableToken) {
            token = try answer.sendableToken(kind)
        } catch {
            try requests.reportOnce(
                handingOut(answer, answer.accessToken.text, wasAsked: false), isWhole: true)
            throw error.diagnosis(of: kind, answer)
        }
        let remedy =
            "the code is spent, but the token was printed: "
            + "siwa revoke --token - --kind \(kind.rawValue)"
        guard session.world.ending.signal == nil else {
            try requests.reportOnce(handingOut(answer, token, wasAsked: false), isWhole: true)
            throw Diagnosis(
                .outcomeUnknown,
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
            try requests.reportOnce(
                Report(report.json, of: .revocationOfSpentCode), code: .revoked)
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
    fileprivate func sendableToken(_ kind: TokenKind) throws(UnusableToken) -> SecretText {
        let token =
            switch kind {
            case .accessToken: accessToken.text
            case .refreshToken: refreshToken?.text
            }
        guard let token else { throw UnusableToken(fault: nil) }
        do throws(OpaqueTokenError) {
            try validateOpaqueToken(token)
        } catch {
            throw UnusableToken(fault: error)
        }
        return token
    }
}

/// Apple's answer has no token that a revocation could name.
private struct UnusableToken: Error, CustomStringConvertible {
    /// Why the token cannot be sent; nil if it is missing.
    let fault: OpaqueTokenError?

    var description: String {
        "the token in Apple's answer " + (fault?.description ?? "is missing")
    }

    func diagnosis(of kind: TokenKind, _ answer: TokenResponse) -> Diagnosis {
        let name = kind == .refreshToken ? "refresh token" : "access token"
        let reason =
            fault.map { "the \(name) in Apple's answer \($0)" } ?? "Apple's answer has no \(name)"
        return .negative(
            kind == .refreshToken ? .noRefreshToken : .noAccessToken,
            "the code was exchanged, but \(reason)",
            hints: [
                kind == .refreshToken
                    ? "ask for a new sign-in and use --kind access_token"
                    : "ask for a new sign-in"
            ], requestID: answer.requestID)
    }
}

extension Deed {
    /// A code was exchanged, and its token was revoked.
    fileprivate static let revocationOfSpentCode = Deed(
        "the code was exchanged and its token was revoked",
        hint: "nothing is left to be done: do not run it again, because the code is spent")
}
