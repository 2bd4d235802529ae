internal import SIWACrypto
internal import SIWAJOSE

/// The code challenge of a sign-in: the base64url of the code verifier's SHA-256, `S256` (RFC 7636
/// §4.2). Apple supports it without documenting it.
package struct CodeChallenge: Hashable, Sendable, CustomStringConvertible {
    /// 43 characters.
    package let description: String

    /// Checks a challenge that was created elsewhere.
    ///
    /// - Throws: ``CodeChallengeError``.
    package init(validating text: String) throws(CodeChallengeError) {
        guard text.utf8.count == 43, (try? Base64URL.decode(text)) != nil else {
            throw Self.isVerifier(text) ? .verifier : .shape
        }
        description = text
    }

    /// RFC 7636 §4.1.
    private static func isVerifier(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count) && text.utf8.allSatisfy(isUnreserved)
    }
}

/// Why a text is not a code challenge.
package enum CodeChallengeError: Error, Hashable, Sendable {
    /// It has the shape of a code verifier, which must stay secret until the exchange.
    case verifier
    /// It is not 43 characters of base64url.
    case shape
}

extension CodeChallengeError: CustomStringConvertible {
    /// What is wrong, as the end of a sentence; never quotes the text.
    package var description: String {
        switch self {
        case .verifier: "looks like the code_verifier itself"
        case .shape: "must be the 43 characters of base64url that spell a SHA-256"
        }
    }
}
