internal import SIWACrypto
package import SIWAJOSE

/// The rule by which the command line, the library and siwa-server verify the identity token in
/// Apple's answer to an exchange.
///
/// The code is spent by then, so an outage of Apple's keys must not cost the sign-in: if no key for
/// the token's `kid` can be had, the check `signature` is skipped and the others decide, provided
/// that the answer certainly came from Apple (OpenID Connect Core §3.1.3.7, 6).
package struct ExchangeVerification: Sendable {
    /// The keys for the token of one answer.
    package enum Keys: Sendable {
        /// A set that an operator gave. No other key is valid.
        case given(KeySet)
        /// Apple's newest set, which may lack the token's key; nil if none can be had.
        case apple(KeySet?)
    }

    private let audiences: [String]
    private let nonce: SecretText?
    private let isServerAuthenticated: Bool

    /// - Parameters:
    ///   - audiences: the clients whose tokens are accepted: `aud`.
    ///   - nonce: the raw nonce of the sign-in request; nil does not check it.
    ///   - isServerAuthenticated: whether the answer came over TLS with a verified certificate, or
    ///     from loopback.
    package init(audiences: [String], nonce: SecretText?, isServerAuthenticated: Bool) {
        (self.audiences, self.nonce) = (audiences, nonce)
        self.isServerAuthenticated = isServerAuthenticated
    }

    /// Verifies the identity token of an answer.
    ///
    /// - Parameters:
    ///   - keys: the keys for ``TokenResponse/verificationKeyID``.
    ///   - times: the moments that are now; that of the answer (`Date`) is another.
    /// - Returns: the result; nil if the answer has no identity token and no nonce requires one.
    package func verify(
        _ answer: TokenResponse, by keys: Keys, at times: TokenTimes
    ) -> IdentityTokenVerification? {
        guard let text = answer.identityToken else {
            return nonce.map { _ in
                IdentityTokenVerification(
                    impossible: .identityToken, "Apple's answer has no identity token")
            }
        }
        let token: CompactJWS
        do throws(CompactJWSError) {
            token = try CompactJWS(text.bytes.revealed())
        } catch {
            return IdentityTokenVerification(error)
        }
        let binding = TokenBinding(
            nonce: nonce, accessToken: answer.accessToken, acceptsMissingHashes: true)
        let verifier = verifier(by: keys)
        return times.or(answer.date).judge {
            verifier.verify(identityToken: token, boundTo: binding, at: $0)
        }.verification
    }

    private func verifier(by keys: Keys) -> TokenVerifier {
        switch keys {
        case .given(let keySet): TokenVerifier(keySet: keySet, audiences: audiences)
        case .apple(let keySet):
            TokenVerifier(
                keySet: keySet, audiences: audiences, isReceivedFromApple: isServerAuthenticated)
        }
    }
}

extension TokenResponse {
    /// The `kid` of the identity token's key; nil without an identity token, and for a header that
    /// Apple does not write.
    package var verificationKeyID: String? {
        identityToken.flatMap { try? CompactJWS($0.bytes.revealed()) }?.verificationKeyID
    }
}
