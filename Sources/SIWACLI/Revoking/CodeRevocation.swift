internal import SIWACrypto
internal import SignInWithApple

// A token that is exchanged for a code first.
extension RevocationOrder {
    /// Prints what would be sent for a code.
    func rehearse(_ code: AuthorizationCode) throws {
        let unknown = SecretText("the \(kind.rawValue) of the answer")
        try requests.rehearse(
            [requests.exchange(of: code)] + sequence(unknown), unknown: unknown)
    }

    /// Exchanges the code first. From then on nobody but this process has the token.
    func revoke(_ code: AuthorizationCode) async throws {
        try requests.checkOutput()
        let token = try await exchange(code)
        do {
            let revocation = try await carryOut(token)
            warnIfNothingWasSent(revocation)
            try requests.reportOnce(report(revocation, of: token))
            try checkDead(revocation)
        } catch var error as RequestError {
            try requests.reportOnce(handingOut(token), isWhole: true)
            error.remedy =
                "the code is spent, but the token was printed: "
                + "siwa revoke --token - --kind \(kind.rawValue)"
            throw error
        }
    }

    private func exchange(_ code: AuthorizationCode) async throws -> SecretText {
        let answer = try await requests.perform { tokens throws(TokenFailure) in
            try await tokens.exchange(
                code, redirectURI: requests.redirectURI, codeVerifier: requests.codeVerifier)
        }
        switch kind {
        case .accessToken: return answer.accessToken.text
        case .refreshToken:
            guard let token = answer.refreshToken else {
                throw NegativeAnswer(
                    "no_refresh_token",
                    "the code was exchanged, but Apple's answer has no refresh token",
                    hints: ["ask for a new sign-in and use --kind access_token"],
                    requestID: answer.requestID)
            }
            return token.text
        }
    }

    /// A token that could not be revoked and that nobody else has: without it the account could
    /// not be revoked before its user signs in once more.
    private func handingOut(_ token: SecretText) -> Report {
        Report([
            "confirmed": false, "kind": .string(kind.rawValue),
            "client_id": .string(clientID.rawValue),
            "token_fingerprint": .string(token.fingerprint),
            "at": .string(session.world.clocks.now().rfc3339),
            kind.rawValue: .string(token.revealed()),
        ])
    }
}
