// T20 to T51: claims.
extension Catalogue {
    static let claims = audiences + issuers + times + nonces

    private static let list = "Compare `aud` with a list of your client ids, byte by byte."
    private static let core =
        "https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation"

    private static let audiences: [Check] = [
        Check(
            "T20", "aud-of-another-team", .high, vector: .invalid, .audience,
            sent: "A token that Apple signed for the app of another team.",
            mistake: "`aud` is not checked: the signature seems enough.", fix: list,
            links: [core, "https://github.com/SocialiteProviders/Providers/pull/1483"]),
        Check(
            "T21", "aud-prefix", .high, vector: .invalid, .audience,
            sent: "An `aud` that begins like the client id, or is its beginning, or differs in case"
                + " or by a space.",
            mistake: "`startsWith`, `includes` or a comparison without case.", fix: list,
            links: [core]),
        Check(
            "T22", "aud-of-another-client", .high, vector: .invalid, .audience,
            effect: "Another app of the team, perhaps with another owner, can sign in here.",
            sent: "A token for another client of the same team, which `audiences` does not list.",
            mistake: "Every client id with the company's prefix is accepted.", fix: list,
            links: [core]),
        Check(
            "T23", "aud-absent", .advice, vector: .invalid, .claims,
            sent: "A token without `aud`.", mistake: "`aud` is compared only if it is there.",
            fix: list),
        Check(
            "T24", "aud-empty", .advice, vector: .invalid, .claims,
            sent: "An `aud` that is an empty text or an empty array.",
            mistake: "\"All of its elements are mine\" is true of none.", fix: list),
        Check(
            "T25", "aud-array-ours", .advice, vector: .acceptable, .claims,
            effect: "None: RFC 7519 allows it, and Apple does not send it.",
            sent: "An `aud` that is an array of this client alone.",
            must: "Either is right.", mistake: "None.", fix: "Nothing needs to be done.",
            links: ["https://www.rfc-editor.org/rfc/rfc7519#section-4.1.3"]),
        Check(
            "T26", "aud-array-with-strangers", .advice, vector: .acceptable, .claims,
            sent: "An `aud` that is an array of this client and a stranger.",
            must: "Either is right; to refuse is safer.",
            mistake: "A token for several receivers can be used by each of them at the others.",
            fix: "Accept an `aud` that is one text.", links: [core]),
    ]

    private static let issuers: [Check] = [
        Check(
            "T27", "iss-other", .advice, vector: .invalid, .claims,
            sent: "Another `iss`: a stranger's, or Apple's with a slash, `http:`, other case or"
                + " something behind it.",
            mistake: "`iss` is not checked, or `startsWith` is used.",
            fix: "Compare `iss` with `https://appleid.apple.com`, byte by byte.", links: [core]),
        Check(
            "T28", "iss-absent", .advice, vector: .invalid, .claims,
            sent: "A token without `iss`.", mistake: "`iss` is compared only if it is there.",
            fix: "Require `iss`, and compare it with `https://appleid.apple.com`.", links: [core]),
        Check(
            "T29", "iss-account.apple.com", .advice, vector: .acceptable, .claims,
            sent: "An `iss` of `https://account.apple.com`.", must: "Either is right.",
            mistake: "None.", fix: "Nothing needs to be done."),
    ]

    private static let times: [Check] = [
        Check(
            "T30", "expired", .high, vector: .invalid, .time,
            sent: "A token that expired an hour, or 61 days, ago.",
            mistake: "`exp` is not checked, or the verifier's leeway is hours.",
            fix: "Require `exp` to be in the future, with a leeway of a minute at most.",
            links: [core]),
        Check(
            "T31", "exp-absent", .advice, vector: .invalid, .claims,
            sent: "A token without `exp`, with a text, or with a time that no calendar has.",
            mistake: "`exp` is compared only if it is a number.",
            fix: "Require `exp`, and require it to be a number."),
        Check(
            "T32", "exp-fraction", .advice, vector: .acceptable, .claims,
            effect: "None: a NumericDate may have a fraction.",
            sent: "An `exp` with a fraction.", must: "Either is right.", mistake: "None.",
            fix: "Nothing needs to be done.",
            links: ["https://www.rfc-editor.org/rfc/rfc7519#section-2"]),
        Check(
            "T33", "iat-future", .advice, vector: .invalid, .claims,
            sent: "An `iat` an hour ahead; in the vectors also none, which a verifier may take.",
            mistake: "`iat` is not checked.",
            fix: "Refuse an `iat` that is more than a few minutes ahead."),
        Check(
            "T34", "nbf-future", .advice, vector: .invalid, .claims,
            sent: "An `nbf` an hour ahead.", mistake: "`nbf` is not checked.",
            fix: "Refuse an `nbf` that is more than a few minutes ahead.",
            links: ["https://www.rfc-editor.org/rfc/rfc7519#section-4.1.5"]),
    ]

    private static let nonces: [Check] = [
        Check(
            "T40", "nonce-of-another-sign-in", .high, vector: .invalid, .nonce,
            sent: "A token with the nonce of another sign-in.",
            mistake: "The nonce is sent to Apple, and not compared afterwards.",
            fix: "Compare the token's `nonce` with the one of this session.",
            links: [core, "https://github.com/SocialiteProviders/Providers/pull/1489"]),
        Check(
            "T41", "nonce-absent-in-token", .high, vector: .invalid, .nonce,
            sent: "A token without `nonce`, whose `nonce_supported` is true.",
            mistake: "The nonce is compared only if the token has one.",
            fix: "Require `nonce` if this sign-in asked for one.", links: [core]),
        Check(
            "T42", "nonce-not-sent", .high, .nonce,
            effect: "The nonce protects nobody: an attacker leaves it out with a stolen token.",
            sent: "A request without the nonce, while the token has one.",
            mistake: "The nonce is compared only if the request has one.",
            fix: "Make the nonce on the server, keep it in the session, and require it there.",
            links: [core]),
        Check(
            "T43", "nonce-form", .advice, vector: .acceptable, .nonce,
            effect: "None by itself: two forms are more to guess from than one.",
            sent: "The nonce as it is where its hash is due, or the reverse, or hashed twice.",
            must: "Either is right.", mistake: "Both forms are tried until one fits.",
            fix: "Decide on one form, and compare that one."),
        Check(
            "T44", "nonce-unsupported", .advice, vector: .acceptable, .nonce,
            sent: "A token without `nonce`, whose `nonce_supported` is false.",
            must: "Either is right; no platform of today sends it.",
            mistake: "`nonce_supported` decides whether the nonce is compared.",
            fix: "Require `nonce` if this sign-in asked for one."),
        Check(
            "T45", "replayed", .advice, .nonce,
            sent: "The same token and code again, after they signed in.",
            mistake: "A nonce or code that was used is not remembered.",
            fix: "Forget the nonce of a session when it was used."),
        Check(
            "T50", "c_hash-wrong", .medium, vector: .invalid, .hash,
            sent: "A token with the `c_hash` of another code.",
            mistake: "`c_hash` is not checked.",
            fix: "Compare `c_hash` with the left half of the code's SHA-256, in base64url.",
            links: ["https://openid.net/specs/openid-connect-core-1_0.html#HybridIDToken"]),
        Check(
            "T51", "at_hash-wrong", .medium, vector: .invalid, .hash,
            effect: "A stolen access token can be paired with another identity token.",
            sent: "A token with the `at_hash` of another access token.",
            must:
                "The backend refuses. A run gives it as advice: Apple sends an access token only in"
                + " one answer with the identity token, where comparing them is optional (OpenID"
                + " Connect Core §3.1.3.8).",
            mistake: "`at_hash` is not checked.",
            fix: "Compare `at_hash` with the left half of the access token's SHA-256, in"
                + " base64url.",
            links: ["https://openid.net/specs/openid-connect-core-1_0.html#CodeIDToken"]),
    ]
}
