internal import SIWAJOSE
internal import SIWALifecycle

/// Checks the times in a client_secret by the emulator's clock.
struct ClientSecretTimes {
    let behaviors: Behaviors
    let now: NumericDate
    let examination: Examination

    func check(_ claims: JSON) throws(Refusal) {
        let expiry = try required("exp", in: claims)
        let issued = try issuedAt(claims)
        guard expiry > now else {
            throw .clientSecret("expired \((now - expiry).words()) ago")
        }
        guard expiry - now <= ClientSecret.longestLifetime else {
            throw .clientSecret(
                "exp is \((expiry - now).words()) ahead, at most "
                    + "\(ClientSecret.longestLifetime.words()) are allowed")
        }
        examination.passed("client_secret", "expires in \((expiry - now).words())")
        if let issued { try checkPast("iat", issued) }
        if claims["nbf"] != nil { try checkPast("nbf", try required("nbf", in: claims)) }
    }

    /// It is not recorded whether Apple requires `iat`; its documentation lists it with the others.
    private func issuedAt(_ claims: JSON) throws(Refusal) -> NumericDate? {
        if claims["iat"] == nil, behaviors.missingIssuedAt == .accepted {
            examination.noted("client_secret", "iat is missing")
            return nil
        }
        return try required("iat", in: claims)
    }

    private func required(_ name: String, in claims: JSON) throws(Refusal) -> NumericDate {
        guard let value = claims[name] else { throw .clientSecret("\(name) is missing") }
        guard let seconds = value.integer ?? whole(value, name) else {
            throw .clientSecret("\(name) is \(value.kind), must be a whole number of seconds")
        }
        // The year 5138 in seconds, 1973 in milliseconds.
        guard seconds < 100_000_000_000 else {
            throw .clientSecret("\(name) is in milliseconds, must be in seconds")
        }
        return NumericDate(seconds)
    }

    /// The seconds of a number with a fraction, which RFC 7519 §2 allows and no recording shows.
    private func whole(_ value: JSON, _ name: String) -> Int? {
        guard behaviors.fractionalTimes == .accepted, case .number(let text) = value,
            let number = Double(text), number.magnitude < 1e15
        else { return nil }
        examination.noted("client_secret", "\(name) has a fraction")
        return Int(number.rounded(.down))
    }

    private func checkPast(_ name: String, _ date: NumericDate) throws(Refusal) {
        guard date - now > behaviors.clockSkewTolerance else {
            return examination.passed("client_secret", "\(name) is not in the future")
        }
        throw .clientSecret(
            "\(name) is \((date - now).words()) in the future: the client's clock is ahead")
    }
}
