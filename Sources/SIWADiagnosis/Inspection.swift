internal import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle

/// The examination of an untrusted text: its kind, its content, its faults.
package struct Inspection: Sendable {
    /// What it is.
    package let recognition: Recognition
    /// The JOSE header and the claims, when it is a JWT that can be read.
    package let token: CompactJWS?
    /// Its faults, the likeliest cause of trouble first.
    package let findings: [Finding]

    /// Examines `text` as it was pasted.
    ///
    /// - Parameters:
    ///   - expected: the client that the client_secret or identity token should be for.
    ///   - now: the time to measure lifetimes by.
    package init(of text: SecretText, expecting expected: ExpectedClient, at now: NumericDate) {
        let unwrapped = UnwrappedText(text.bytes.revealed())
        let known = Recognition(text)
        token =
            known?.kind == .notification
            ? try? CompactJWS.read(notificationBody: unwrapped.bytes)
            : try? CompactJWS(unwrapped.bytes)
        guard let token else {
            recognition = known ?? Recognition(.other, "an unknown format")
            // A text that begins like a token but is not a token is incomplete.
            findings =
                known == nil && unwrapped.bytes.starts(with: "eyJ".utf8)
                ? ClientSecretFindings(in: text, expecting: expected, at: now).all : []
            return
        }
        let own = Recognition(token)
        recognition = known ?? own
        findings =
            own.kind == .clientSecret
            ? ClientSecretFindings(in: text, expecting: expected, at: now).all
            : unwrapped.findings + AppleTokenFindings(own.kind, token, expected, now).all
    }

    /// `exp`; nil if it is absent or not a time.
    package var expiresAt: NumericDate? {
        guard let token, case .moment(let date) = TimeClaim("exp", token.payload["exp"]).value
        else { return nil }
        return date
    }
}
