internal import JOSE

// The checks of the claims that all of Apple's tokens have.
extension TokenVerifier {
    func issuer(_ claims: TokenClaims) -> Check { oneOf(issuers, .issuer, "iss", claims[.iss]) }

    func audience(_ claims: TokenClaims) -> Check {
        let claim = claims[.aud]
        guard claim?.isArray != true else {
            return .failed(
                .audience, "aud is an array, \(claim.shown); Apple's names one client, as a text")
        }
        return oneOf(audiences, .audience, "aud", claim)
    }

    func expiry(_ claims: TokenClaims, _ now: NumericDate) -> Check {
        guard let expires = claims[.exp]?.moment else {
            return .failed(.expiry, "exp is \(claims[.exp].shown), expected whole seconds")
        }
        return now < expires + leeway
            ? .passed(.expiry, "expires at ", expires)
            : .failed(.expiry, "expired at \(expires.rfc3339), it is \(now.rfc3339)")
    }

    func issuedAt(_ claims: TokenClaims, _ now: NumericDate) -> Check {
        guard let issued = claims[.iat]?.moment else {
            return .failed(.issuedAt, "iat is \(claims[.iat].shown), expected whole seconds")
        }
        return issued <= now + leeway
            ? .passed(.issuedAt, "issued at ", issued)
            : .failed(
                .issuedAt,
                "issued in the future, at \(issued.rfc3339); it is \(now.rfc3339)")
    }

    private func oneOf(
        _ accepted: [String], _ subject: Check.Subject, _ member: String, _ claim: JSONText.Value?
    ) -> Check {
        guard let claim, let found = accepted.first(where: claim.isExactly) else {
            return .failed(
                subject,
                "\(member) is \(claim.shown), expected \(accepted.joined(separator: " or "))")
        }
        return .passed(subject, found)
    }
}
