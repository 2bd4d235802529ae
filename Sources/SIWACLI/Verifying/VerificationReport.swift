internal import SignInWithApple

extension Verifying {
    /// Prints what was found, and fails when the token is not valid.
    ///
    /// A claim of such a token is printed only beside `valid`, never alone: what goes through a
    /// pipe leaves its exit code behind.
    ///
    /// - Parameters:
    ///   - deed: what was done because of it; nil if nothing was.
    ///   - members: what stands behind `valid` and `checks`.
    func report<Claims>(
        _ verification: Verification<Claims>, of subject: VerifiedSubject, deed: Deed? = nil,
        _ members: (CompactJWS) -> [JSON.Member]
    ) throws {
        let verdict = verification.verdict
        let isAlone = session.options.print.map { !verdict.map(\.name).contains($0) } ?? false
        if verification.isValid || !isAlone {
            let content = verification.token.map(members) ?? []
            try session.report(Report(.object(verdict + content), of: deed))
        }
        let failures = verification.failures
        guard verification.isValid else {
            throw subject.refusal(failures, hints: failures.map(\.hint))
        }
    }
}

extension Verification {
    /// `valid` and `checks`.
    var verdict: [JSON.Member] {
        [
            .init("valid", .boolean(isValid)), .init("checks", .array(checks.map(\.json))),
        ]
    }
}

extension CompactJWS {
    /// `header` and `claims`: what an identity token says. Beside an address, `email_kind`.
    var identityMembers: [JSON.Member] {
        [.init("header", header), .init("claims", payload.normalizedClaims)]
            + (emailKind.map { [.init("email_kind", .string($0.rawValue))] } ?? [])
    }
}

extension Check {
    var json: JSON {
        let name = JSON.Member("name", .string(name))
        let status = JSON.Member("status", .string(status.rawValue))
        guard let detail else { return .object([name, status]) }
        return .object([name, status, .init("detail", .string(detail))])
    }

    /// What to do when it failed.
    fileprivate var hint: String {
        switch subject {
        case .format: "give all of it, as Apple sent it; 'siwa inspect' tells what a text is"
        case .algorithm: "Apple signs with RS256 only: do not trust this token"
        case .key:
            """
            Apple withdraws keys in time: a token from long ago needs the key set of its day \
            (--jwks FILE)
            """
        case .signature: "do not trust it: it was changed, or Apple did not sign it"
        case .issuer: "only Apple's own tokens count, unless --issuer says otherwise"
        case .audience: "if it is for another client of yours, name that one with --audience"
        case .expiry: "ask for a newer one; --at TIME judges it as of another moment"
        case .issuedAt: "compare this machine's clock with another"
        case .nonce: "give the nonce of this very sign-in, as the app put it into its request"
        case .cHash: "a token has one only when it came together with the code"
        case .atHash: "a token has one only when a code was exchanged for it"
        case .subject: "'siwa notification' verifies notifications, 'siwa verify' identity tokens"
        case .event, .jti, .identityToken: "'siwa inspect' shows all that is in it"
        }
    }
}
