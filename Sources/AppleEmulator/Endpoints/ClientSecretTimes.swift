internal import SignInWithApple

/// The times in a client_secret, by the emulator's own clock and never by the client's.
struct ClientSecretTimes {
    let now: NumericDate
    let tolerance: Duration
    let trail: CheckTrail

    func check(_ claims: JSON) throws(Refusal) {
        let expiry = try required("exp", in: claims)
        // Whether Apple demands iat is not recorded; its documentation lists it with the others.
        let issued = try required("iat", in: claims)
        guard expiry > now else {
            throw .clientSecret("expired \(Self.count(now - expiry)) ago")
        }
        guard expiry - now <= ClientSecret.longestLifetime else {
            throw .clientSecret(
                "exp is \(Self.count(expiry - now)) ahead, at most "
                    + "\(Self.count(ClientSecret.longestLifetime)) are allowed")
        }
        trail.passed("client_secret", "exp is \(Self.count(expiry - now)) ahead")
        try checkPast("iat", issued)
        if claims["nbf"] != nil { try checkPast("nbf", try required("nbf", in: claims)) }
    }

    private func required(_ name: String, in claims: JSON) throws(Refusal) -> NumericDate {
        guard let value = claims[name] else { throw .clientSecret("\(name) is missing") }
        guard let seconds = value.integer else {
            throw .clientSecret("\(name) is \(value.kind), must be a whole number of seconds")
        }
        // Year 5138 in seconds, 1973 in milliseconds.
        guard seconds < 100_000_000_000 else {
            throw .clientSecret("\(name) is in milliseconds, must be in seconds")
        }
        return NumericDate(seconds)
    }

    private func checkPast(_ name: String, _ date: NumericDate) throws(Refusal) {
        guard date - now > tolerance else {
            trail.passed("client_secret", "\(name) is not in the future")
            return
        }
        throw .clientSecret(
            "\(name) is \(Self.count(date - now)) in the future: the client's clock is ahead")
    }

    private static func count(_ duration: Duration) -> String {
        "\(duration.components.seconds) s"
    }
}
