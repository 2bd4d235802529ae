internal import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle

/// All faults of a client_secret that are visible without asking Apple.
///
/// The rules are Apple's ("Creating a client secret", TN3107); the mistakes are those reported in
/// public threads. No claim of the secret is trusted. Text that was pasted around the secret is
/// removed first, so that one examination finds all faults.
package struct ClientSecretFindings: Sendable {
    /// The findings, the likeliest cause first; empty if Apple should accept the secret.
    package let all: [Finding]

    /// Examines `secret`, as it was pasted.
    ///
    /// - Parameters:
    ///   - expected: the client that the secret should be for, as far as known.
    ///   - now: Apple's time, or the best estimate of it.
    package init(in secret: SecretText, expecting expected: ExpectedClient, at now: NumericDate) {
        let text = UnwrappedText(secret.bytes.revealed())
        let findings: [Finding]
        do {
            findings = Self.faults(of: try CompactJWS(text.bytes), expected, now)
        } catch {
            findings = [Recognition(secret).map(Self.misplaced) ?? Self.malformed(error)]
        }
        all = (text.findings + findings).ranked
    }

    private static func faults(
        of jws: CompactJWS, _ expected: ExpectedClient, _ now: NumericDate
    ) -> [Finding] {
        let found = Recognition(jws)
        guard found.kind == .clientSecret else { return [misplaced(found)] }
        return HeaderFindings(jws.header, expected).all + NameFindings(jws, expected).all
            + TimeFindings(jws.payload, now).all + SignatureFindings(jws, expected).all
    }

    private static func misplaced(_ found: Recognition) -> Finding {
        guard found.kind == .privateKey else {
            return Finding(
                .wrongTokenPasted, seen: "it is \(found.name), not a client_secret",
                advice: "send a JWT that your own key signed: 'siwa secret' mints one")
        }
        return Finding(
            .privateKeyPasted, seen: "it is \(found.name), not a client_secret",
            advice: "keep the key to yourself and send the JWT it signs: 'siwa secret' mints one")
    }

    private static func malformed(_ error: CompactJWSError) -> Finding {
        let isCut =
            switch error {
            case .parts(2), .base64URL(_, .length), .base64URL(_, .strayBits): true
            case .json(_, let reason): reason.reason == .ended
            default: false
            }
        return Finding(
            .malformed,
            seen: "it is not a JWT\(isCut ? ", a part of it may be cut off" : ""): \(error)",
            advice: "check what was copied, or mint another: 'siwa secret'")
    }
}
