package import SIWAJOSE

/// The result of verifying one of Apple's tokens.
package struct Verification<Claims: Sendable>: Sendable {
    /// Every check, in the order they were made.
    package let checks: [TokenCheck]
    /// The token as received, which must not be trusted; nil if it is not a JWT.
    package let token: CompactJWS?
    /// The claims; nil unless all checks that were made have passed.
    package let claims: Claims?
    /// Whether the token is valid.
    package let isValid: Bool

    /// - Parameters:
    ///   - isReceivedFromApple: the signature may have been skipped.
    ///   - read: reads the claims once they are known to be Apple's.
    init(
        _ token: CompactJWS, _ checks: [TokenCheck], isReceivedFromApple: Bool = false,
        reading read: (TokenClaims) -> Claims?
    ) {
        self.checks = checks
        self.token = token
        claims = checks.haveAllPassed(isSigned: isReceivedFromApple) ? read(token.claims) : nil
        isValid = claims != nil
    }

    /// The result if no token could be examined: one failed check.
    package init(impossible subject: TokenCheck.Subject, _ detail: String) {
        checks = [.failed(subject, detail)]
        token = nil
        claims = nil
        isValid = false
    }

    /// The result for a text that is not a JWT.
    package init(_ error: CompactJWSError) {
        self.init(impossible: .format, error.description)
    }

    /// Whether a key verified the signature. False for a valid token only if it came from Apple
    /// and its key is not available: see ``ExchangeVerification``.
    package var isSigned: Bool {
        checks.contains { $0.subject == .signature && $0.status == .passed }
    }

    /// The checks that failed.
    package var failures: [TokenCheck] { checks.filter { $0.status == .failed } }
}

extension [TokenCheck] {
    /// Whether no check failed, and the signature passed.
    ///
    /// - Parameter isSigned: whether the signature is known to be Apple's without its check.
    fileprivate func haveAllPassed(isSigned: Bool) -> Bool {
        // Reads the checks in place: copying one takes longer than reading it.
        let checks = span
        var isSigned = isSigned
        for index in checks.indices {
            if checks[index].status == .failed { return false }
            if checks[index].subject == .signature, checks[index].status == .passed {
                isSigned = true
            }
        }
        return isSigned
    }
}

/// The result of verifying an identity token.
package typealias IdentityTokenVerification = Verification<IdentityTokenClaims>
