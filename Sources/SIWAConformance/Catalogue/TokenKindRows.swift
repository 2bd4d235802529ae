// T52 to T56: something else in place of the identity token. T60 to T66: unusual shapes.
extension Catalogue {
    private static let typed =
        "Require `iss`, `aud`, `sub`, `exp` and your nonce, and refuse what has `events`."

    static let tokenKinds: [Check] = [
        Check(
            "T52", "notification-as-identity-token", .high, vector: .invalid, .tokenKind,
            sent: "A genuine notification, which the same key signs for the same client.",
            mistake: "Signature, `iss` and `aud` fit, and `sub` is read where it is found.",
            fix: typed, links: ["https://www.rfc-editor.org/rfc/rfc8725#section-3.12"]),
        Check(
            "T53", "client-secret-as-identity-token", .high, vector: .invalid, .tokenKind,
            sent: "The client's own `client_secret`: ES256, by the developer's key.",
            mistake: "The key is chosen by `kid` among all keys that the program knows.",
            fix: "Verify identity tokens with Apple's key set alone.",
            links: ["https://www.rfc-editor.org/rfc/rfc8725#section-3.12"]),
        Check(
            "T54", "access-token", .high, vector: .invalid, .tokenKind,
            sent: "An access token, which is no JWT.",
            mistake: "A token that cannot be read is kept as it is.",
            fix: "Refuse what is not a JWS of three parts."),
        Check(
            "T55", "web-token-at-the-native-endpoint", .high, vector: .invalid, .tokenKind,
            effect: "What one client of the team asked for is good for another one.",
            sent: "A token of the team's other client: web for native, or native for web.",
            mistake: "One list of client ids is used for every endpoint.",
            fix: "Compare `aud` with the client id of this flow. If one list is meant, name both in"
                + " `audiences` of FILE."),
        Check(
            "T56", "identity-token-of-a-refresh", .advice, vector: .invalid, .tokenKind,
            sent: "The identity token that a refresh returns: no nonce, no `c_hash`.",
            mistake: "A token that proves no sign-in is taken for a new one.",
            fix: "Require `nonce` if this sign-in asked for one."),
    ]

    static let shapes: [Check] = [
        Check(
            "T60", "sub-absent", .advice, vector: .invalid, .shape,
            sent: "No `sub`, an empty one, or an object.",
            mistake: "`undefined` or an object finds the first account of the database.",
            fix: "Require `sub` to be a text that is not empty."),
        Check(
            "T61", "duplicate-members", .advice, vector: .invalid, .shape,
            sent: "Two `alg` in the header; in the vectors also two `sub` in the payload, which a"
                + " verifier may take.",
            mistake: "Two parsers read different ones of two members of the same name.",
            fix: "Parse each part once, and refuse members that are there twice.",
            links: ["https://www.rfc-editor.org/rfc/rfc7515#section-4"]),
        Check(
            "T62", "crit-unknown", .advice, vector: .invalid, .shape,
            sent: "A `crit` that names an extension that nobody knows.",
            mistake: "`crit` is not read.", fix: "Refuse every token with `crit`.",
            links: ["https://www.rfc-editor.org/rfc/rfc7515#section-4.1.11"]),
        Check(
            "T63", "b64-false", .advice, vector: .invalid, .shape,
            sent: "A header with `b64` false, which is critical.",
            mistake: "`crit` is not read.", fix: "Refuse every token with `crit`.",
            links: ["https://www.rfc-editor.org/rfc/rfc7797#section-6"]),
        Check(
            "T64", "parts", .advice, vector: .invalid, .shape,
            sent:
                "Two, four or five parts, empty ones, nothing, characters that base64url lacks, or"
                + " the JSON serialization; in the vectors also"
                + " padding and white space, which a verifier may take.",
            mistake: "The parts are split and not counted.",
            fix: "Require three parts of base64url without padding."),
        Check(
            "T65", "utf8", .advice, vector: .invalid, .shape,
            sent: "Text that is not UTF-8, NUL, an array or null as payload, NaN.",
            mistake: "A lenient parser mends what it reads, and compares the result.",
            fix: "Require the payload to be a JSON object in UTF-8."),
        Check(
            "T66", "large", .advice, vector: .invalid, .shape,
            effect: "A deep header can end the process of a parser that recurses.",
            sent: "A header with 500 nested arrays; in the vectors also a token of 1 MB, which a"
                + " verifier may take.",
            mistake: "The header is parsed before anything limits it.",
            fix: "Limit a token to 16 KB before parsing it."),
    ]
}
