internal import JOSE
internal import Lifecycle
internal import SIWACLI
internal import SIWACrypto

/// The verification of the identity token in Apple's response to an exchange.
struct IdentityTokenCheck: Sendable {
    /// The user; nil unless every check passed.
    let userID: UserID?
    /// The user that the token names, even if checks failed; nil without an identity token.
    let subject: UserID?
    /// The member `checks` of the response.
    let checks: JSON
    /// The failed checks.
    let failures: [Check]

    /// Checks the identity token.
    ///
    /// - Parameters:
    ///   - keySet: nil if Apple's keys are not available: then the signature is not checked, as the
    ///     token came from Apple over TLS.
    ///   - nonce: the nonce that it must have.
    init(
        _ answer: TokenResponse, for client: ProfileClient, keySet: KeySet?, nonce: SecretText?,
        at now: NumericDate
    ) {
        let verification = Self.verify(answer, client, keySet, nonce, now)
        userID = verification?.claims?.userID
        subject = verification?.token?.claims[.sub]?.string
            .flatMap { try? UserID(validating: $0) }
        checks = verification?.verdict.first { $0.name == "checks" }?.value ?? .array([])
        failures = verification?.failures ?? []
    }

    /// Nil if the response has no identity token and none was required.
    private static func verify(
        _ answer: TokenResponse, _ client: ProfileClient, _ keySet: KeySet?, _ nonce: SecretText?,
        _ now: NumericDate
    ) -> IdentityTokenVerification? {
        guard let token = answer.identityToken else {
            return nonce.map { _ in
                IdentityTokenVerification(
                    impossible: .identityToken, "Apple's response has no identity token")
            }
        }
        let jws: CompactJWS
        do throws(CompactJWSError) {
            jws = try CompactJWS(token.bytes.revealed())
        } catch {
            return IdentityTokenVerification(error)
        }
        let isUnknown = jws.verificationKeyID.map { keySet?[$0] == nil } ?? false
        let verifier = TokenVerifier(
            keySet: keySet, audiences: client.audiences + [client.clientID.rawValue],
            isReceivedFromApple: isUnknown)
        let binding = TokenBinding(
            nonce: nonce, accessToken: answer.accessToken, acceptsMissingHashes: true)
        return verifier.verify(identityToken: jws, boundTo: binding, at: now)
    }
}
