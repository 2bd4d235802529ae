internal import SIWAJOSE

// The checks of the claims that all of Apple's tokens have.
extension TokenVerifier {
    func issuer(_ claims: TokenClaims) -> TokenCheck { oneOf(issuers, .issuer, .iss, claims) }

    func audience(_ claims: TokenClaims) -> TokenCheck {
        let check = oneOf(audiences, .audience, .aud, claims)
        guard check.status == .failed, case .array? = claims[.aud] else { return check }
        return .failed(
            .audience,
            "aud is an array, \(claims[.aud].shown); Apple's names one client, as a text")
    }

    func expiry(_ claims: TokenClaims, _ now: NumericDate) -> TokenCheck {
        guard let expires = claims.moment(.exp) else {
            return .failed(.expiry, "exp is \(claims[.exp].shown), expected whole seconds")
        }
        guard expires.isWritable else {
            return .failed(
                .expiry, "exp is \(claims[.exp].shown), which is not a date before 10000")
        }
        return now < expires.adding(seconds: leeway)
            ? .passed(.expiry, "expires at ", expires)
            : .failed(.expiry, "expired at \(expires.rfc3339), it is \(now.rfc3339)")
    }

    func issuedAt(_ claims: TokenClaims, _ now: NumericDate) -> TokenCheck {
        guard let issued = claims.moment(.iat) else {
            return .failed(.issuedAt, "iat is \(claims[.iat].shown), expected whole seconds")
        }
        return issued <= now.adding(seconds: leeway)
            ? .passed(.issuedAt, "issued at ", issued)
            : .failed(
                .issuedAt,
                "issued in the future, at \(issued.rfc3339); it is \(now.rfc3339)")
    }

    /// Nil without `nbf`, which Apple's tokens do not have.
    func notBefore(_ claims: TokenClaims, _ now: NumericDate) -> TokenCheck? {
        guard claims.has(.nbf) else { return nil }
        guard let start = claims.moment(.nbf) else {
            return .failed(.notBefore, "nbf is \(claims[.nbf].shown), expected whole seconds")
        }
        return start <= now.adding(seconds: leeway)
            ? .passed(.notBefore, "valid from ", start)
            : .failed(.notBefore, "valid from \(start.rfc3339); it is \(now.rfc3339)")
    }

    private func oneOf(
        _ accepted: [String], _ subject: TokenCheck.Subject, _ claim: Claim, _ claims: TokenClaims
    ) -> TokenCheck {
        guard let found = accepted.first(where: { claims.has(claim, exactly: $0) }) else {
            let expected = accepted.joined(separator: " or ")
            return .failed(
                subject, "\(claim.name) is \(claims[claim].shown), expected \(expected)")
        }
        return .passed(subject, found)
    }
}
