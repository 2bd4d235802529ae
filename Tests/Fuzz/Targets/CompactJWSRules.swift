internal import SIWAJOSE
internal import SIWALifecycle

/// The parts of a token make up the token, and only tokens that Apple signed are valid.
func checkCompactJWS(_ input: [UInt8]) throws(Violation) {
    guard let token = try? CompactJWS(input) else { return }
    let signature = Array(Base64URL.encode(token.signature).utf8)
    try demand(
        token.signingInput + [UInt8(ascii: ".")] + signature == input, "the parts make the token")
    for part in [token.header, token.payload] {
        try demand(part.members != nil, "header and claims are objects")
        try checkWriting(part)
    }
    try checkWriting(token.payload.normalizedClaims)
    try checkPassingThrough(token)
    try checkVerification(of: token, input)
}

/// Parts that are copied unchanged equal the same parts written from their values.
private func checkPassingThrough(_ token: CompactJWS) throws(Violation) {
    var line = JSONLine()
    line.add("header", headerOf: token)
    line.add("claims", normalizedClaimsOf: token)
    let values: JSON = ["header": token.header, "claims": token.payload.normalizedClaims]
    try demand(line.finished() == values.bytes + [0x0A], "what passes through is what it means")
}

private func checkVerification(of token: CompactJWS, _ text: [UInt8]) throws(Violation) {
    let verifier = TokenVerifier(keySet: Apple2019.keySet, audiences: Apple2019.audiences)
    let user = verifier.verify(
        identityToken: token, boundTo: TokenBinding(acceptsMissingHashes: true),
        at: Apple2019.identityTokenTime)
    let event = verifier.verify(notification: token, at: Apple2019.notificationTime)
    let bound = verifier.verify(
        identityToken: token, boundTo: foreignSignIn, at: Apple2019.identityTokenTime)
    let isGenuine = Apple2019.tokens.contains(text)
    try demand(user.claims == nil || isGenuine, "only what Apple signed is an identity token")
    try demand(event.claims == nil || isGenuine, "only what Apple signed is a notification")
    try demand(bound.claims == nil, "no token belongs to a sign-in that never was")
    for check in user.failures + event.failures + bound.failures {
        try demand(check.detail?.isEmpty == false, "a failed check says why: \(check.name)")
    }
}

private let foreignSignIn = TokenBinding(
    nonce: SecretText("n"), code: AuthorizationCode(SecretText("c")),
    accessToken: AccessToken(SecretText("a")))
