internal import SIWACrypto
internal import SIWAJOSE

/// Compares a token's nonce with the app's nonce. Apps send it unchanged, or its SHA-256 in
/// hexadecimal or base64url; Apple copies it.
func nonceCheck(_ claims: TokenClaims, _ expected: SecretText?) -> TokenCheck {
    guard let expected else {
        return .skipped(
            .nonce,
            claims.has(.nonce)
                ? "the token has one, and none was given to compare"
                : "no nonce was given to compare")
    }
    guard expected.bytes.count > 0 else { return .failed(.nonce, "an empty nonce proves nothing") }
    guard let found = claims[.nonce]?.string else { return .failed(.nonce, missing(claims)) }
    guard let forms = NonceForms(expected) else {
        return .failed(.nonce, "there is no SHA-256 on this machine")
    }
    if let form = forms.accepted(found) { return .passed(.nonce, form) }
    return .failed(.nonce, forms.mistake(found) ?? "the token has another one")
}

private func missing(_ claims: TokenClaims) -> String {
    if let claim = claims[.nonce] { return "nonce is \(claim.kind), expected a text" }
    return claims.flag(.nonceSupported) == true
        ? "the token has none, though nonce_supported is true: its sign-in had no nonce"
        : "the token has none"
}
