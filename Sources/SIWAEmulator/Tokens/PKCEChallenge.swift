internal import SIWACrypto
internal import SIWAJOSE

/// The code challenge of a sign-in (RFC 7636 §4.2). Apple supports it, but neither documents nor
/// advertises it.
struct PKCEChallenge: Hashable {
    enum Method: String, CaseIterable, JSONConvertible {
        case plain
        case s256 = "S256"
    }

    let text: String
    let method: Method

    /// A challenge requires its verifier, and a verifier requires a challenge.
    ///
    /// - Parameter code: Apple's error is not recorded; RFC 7636 §4.6 has `invalid_grant`.
    static func check(
        _ challenge: PKCEChallenge?, against verifier: String?, or code: Refusal.Code
    ) throws {
        let fault: String
        switch (challenge, verifier) {
        case (nil, nil): return
        case (nil, _?): fault = "sent, but the sign-in had no code_challenge"
        case (_?, nil): fault = "missing, though the sign-in had a code_challenge"
        case (let challenge?, let verifier?):
            guard try !challenge.isMet(by: verifier) else { return }
            fault = "does not fit the sign-in's code_challenge"
        }
        throw Refusal(code, in: "code_verifier", because: fault)
    }

    private func isMet(by verifier: String) throws(OpenSSLError) -> Bool {
        switch method {
        case .plain: text.isExactly(verifier)
        case .s256: text == Base64URL.encode(try SHA256.digest(verifier))
        }
    }
}
