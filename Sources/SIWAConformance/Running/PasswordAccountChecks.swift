internal import SIWAJOSE
internal import SIWALifecycle

// R05: accounts that existed before anybody signed in with Apple.
extension ConformRun {
    private static let unverified = [
        unverifiedEmail("email_verified is false", false),
        unverifiedEmail("email_verified is the text false", "false"),
        unverifiedEmail("no email_verified", nil),
    ]

    private static func unverifiedEmail(_ comment: String, _ value: JSON?) -> BadToken {
        BadToken.claims("R05", comment) { _ in [("email_verified", value)] }
    }

    /// Makes an account with a password, and then signs in with a token that only names its
    /// address.
    func checkPasswordAccount(_ flow: Flow, skip: CheckResult.Skip?) async throws {
        let steps = file.passwordAccount
        let reason = steps == nil ? .missing("the file has no 'password_account'") : skip
        try await check("R05", flow, skip: reason) {
            var variants: [CheckResult.Variant] = []
            for token in Self.unverified {
                let user = try await newUser()
                guard let account = try await passwordAccount(steps ?? [], user) else {
                    throw NotJudged(
                        reason: "'password_account' ends without a session for 'whoami'")
                }
                let attempt = try await signIn(
                    flow, user, Deviation(token: token), for: "R05: \(token.comment)")
                variants.append(
                    CheckResult.Variant(
                        comment: "the address of a password account, \(token.comment)",
                        outcome: attempt.outcome, status: attempt.status,
                        isWrong: attempt.account == account))
            }
            return variants
        }
    }

    /// The account that the steps make for the address of `user`; nil if `whoami` names none.
    private func passwordAccount(_ steps: [Step], _ user: TestUser) async throws -> String? {
        try await pace()
        var browser = Browser(file, transport, timeout: options.timeout)
        var values = try values(of: user)
        do {
            for step in steps { _ = try await browser.take(step, &values) }
            return try await account(
                Attempt(verdict: .refused, status: nil, browser: browser, values: values))
        } catch is TransportError {
            return nil
        }
    }
}
