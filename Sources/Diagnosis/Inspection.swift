package import JOSE
package import Lifecycle
internal import SIWACrypto

/// A text looked at and not trusted: what it is, what is in it, what is wrong with it.
package struct Inspection: Sendable {
    /// What it is.
    package let recognition: Recognition
    /// The JOSE header and the claims, when it is a JWT that can be read.
    package let token: CompactJWS?
    /// What is wrong with it, the likeliest cause of trouble first.
    package let findings: [Finding]

    /// Looks at `text` as it was pasted.
    ///
    /// - Parameters:
    ///   - expected: whose client_secret, or for whom an identity token, it should be.
    ///   - now: the time to measure lifetimes by.
    package init(of text: SecretText, expecting expected: ExpectedClient, at now: NumericDate) {
        let unwrapped = UnwrappedText(text.bytes.revealed())
        let known = Recognition(text)
        token =
            known?.kind == .notification
            ? try? CompactJWS(notificationBody: unwrapped.bytes)
            : try? CompactJWS(unwrapped.bytes)
        guard let token else {
            recognition = known ?? Recognition(.other, "no format that siwa knows")
            // A text that begins like a token but is not one has lost a part.
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

    /// `exp`, when there is one that is a time.
    package var expiresAt: NumericDate? {
        guard let token, case .moment(let date) = TimeClaim("exp", token.payload["exp"]).value
        else { return nil }
        return date
    }
}
