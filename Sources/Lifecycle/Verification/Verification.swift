package import JOSE

/// What verifying one of Apple's tokens found.
package struct Verification<Claims: Sendable>: Sendable {
    /// Every check, in the order they were made.
    package let checks: [Check]
    /// The token as received, not to be trusted; nil if it is not a JWT.
    package let token: CompactJWS?
    /// What the token says; nil unless every check that was made has passed.
    package let claims: Claims?
    /// Whether the token is Apple's, and as it must be.
    package let isValid: Bool

    /// - Parameters:
    ///   - isReceivedFromApple: the signature may have been skipped.
    ///   - read: reads the claims once they are known to be Apple's.
    init(
        _ token: CompactJWS, _ checks: [Check], isReceivedFromApple: Bool = false,
        reading read: (JSONText) -> Claims?
    ) {
        self.checks = checks
        self.token = token
        claims =
            checks.areOfASoundToken(isSigned: isReceivedFromApple) ? read(token.claims) : nil
        isValid = claims != nil
    }

    /// What could not be looked at: one check failed, and there was no other to make.
    package init(impossible subject: Check.Subject, _ detail: String) {
        checks = [.failed(subject, detail)]
        token = nil
        claims = nil
        isValid = false
    }

    /// What is not a JWT.
    package init(_ error: CompactJWSError) {
        self.init(impossible: .format, error.description)
    }

    /// The checks that failed.
    package var failures: [Check] { checks.filter { $0.status == .failed } }
}

extension [Check] {
    /// Whether no check failed, and the signature passed.
    ///
    /// - Parameter isSigned: whether the signature is known to be Apple's without its check.
    fileprivate func areOfASoundToken(isSigned: Bool) -> Bool {
        // Looked at where they are: copying a check takes longer than looking at it.
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

/// What verifying an identity token found.
package typealias IdentityTokenVerification = Verification<IdentityTokenClaims>
