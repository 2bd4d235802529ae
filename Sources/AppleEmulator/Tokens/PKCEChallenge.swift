internal import SIWACrypto
internal import SignInWithApple

/// What a sign-in announced about the exchange to come (RFC 7636 §4.2). Apple neither
/// documents nor advertises it, and honours it all the same.
struct PKCEChallenge: Hashable {
    enum Method: String, CaseIterable, Shaped {
        case plain
        case s256 = "S256"
    }

    private static let name = "code_verifier"

    let text: String
    let method: Method

    /// All or nothing: a challenge wants its verifier, and a verifier wants a challenge.
    static func check(
        _ challenge: PKCEChallenge?, against verifier: String?, _ trail: CheckTrail
    ) throws {
        switch (challenge, verifier) {
        case (nil, nil): trail.passed(name, "absent, as the sign-in had no code_challenge")
        case (nil, _?): throw refusal("sent, but the sign-in had no code_challenge")
        case (_?, nil): throw refusal("missing, though the sign-in had a code_challenge")
        case (let challenge?, let verifier?):
            guard try challenge.isMet(by: verifier) else {
                throw refusal("does not fit the sign-in's code_challenge")
            }
            trail.passed(name, "fits the sign-in's code_challenge (\(challenge.method.rawValue))")
        }
    }

    private func isMet(by verifier: String) throws(OpenSSLError) -> Bool {
        switch method {
        case .plain: text.isExactly(verifier)
        case .s256: text == Base64URL.encode(try SHA256.digest(verifier))
        }
    }

    /// Apple's answer is not recorded; this is the code of RFC 7636 §4.6.
    private static func refusal(_ seen: String) -> Refusal {
        Refusal(.invalidGrant, check: name, because: seen)
    }
}
