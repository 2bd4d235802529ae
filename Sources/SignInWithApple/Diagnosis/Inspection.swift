internal import SIWACrypto

/// A text looked at and not trusted: what it is, what is in it, what is wrong with it.
public struct Inspection: Sendable {
    /// What it is.
    public let recognition: Recognition
    /// The JOSE header and the claims, when it is a JWT that can be read.
    public let token: CompactJWS?
    /// What is wrong with it, the likeliest cause of trouble first.
    public let findings: [Finding]

    /// Looks at `text` as it was pasted.
    ///
    /// - Parameters:
    ///   - expected: whose client_secret, or for whom an identity token, it should be.
    ///   - now: the time to measure lifetimes by.
    public init(of text: SecretText, expecting expected: ExpectedClient, at now: NumericDate) {
        let (unwrapped, inner) = Self.jwt(in: text)
        token = try? CompactJWS(unwrapped.bytes)
        guard let token else {
            let known = Recognition(text)
            recognition = known ?? Recognition(.other, "nothing that siwa knows")
            // What begins like a token and is none has lost something.
            findings =
                known == nil && unwrapped.bytes.starts(with: "eyJ".utf8)
                ? ClientSecretFindings(in: text, expecting: expected, at: now).all : []
            return
        }
        let own = Recognition(token)
        recognition = inner ? Recognition(.notification, "the body of a notification") : own
        findings =
            own.kind == .clientSecret
            ? ClientSecretFindings(in: text, expecting: expected, at: now).all
            : unwrapped.findings + AppleTokenFindings(own.kind, token, expected, now).all
    }

    /// `exp`, when there is one that is a time.
    public var expiresAt: NumericDate? {
        guard let token, case .moment(let date) = TimeClaim("exp", token.payload["exp"]).value
        else { return nil }
        return date
    }

    /// The JWT in a notification's body, or the text itself.
    private static func jwt(in text: SecretText) -> (UnwrappedText, isInBody: Bool) {
        let bytes = text.bytes.revealed()
        guard Recognition(text)?.kind == .notification,
            let payload = (try? JSON(UnwrappedText(bytes).bytes))?["payload"]?.string
        else { return (UnwrappedText(bytes), false) }
        return (UnwrappedText(Array(payload.utf8)), true)
    }
}
