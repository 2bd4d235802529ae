// T01 to T16: who signed, and how.
extension Catalogue {
    static let signatures: [Check] = [
        Check(
            "T01", "alg-none", .critical, vector: .invalid, .algorithm,
            sent:
                "The good token with `alg` none, in four spellings, with and without a signature.",
            mistake: "The header of the token chooses the algorithm, or a list of forbidden names"
                + " knows only one spelling.",
            fix: "Give the verifier the list `[\"RS256\"]`, and never read the algorithm from the"
                + " token.",
            cves: ["CVE-2015-9235", "CVE-2022-23540"],
            links: ["https://www.rfc-editor.org/rfc/rfc8725#section-3.1"]),
        Check(
            "T02", "alg-hs-public-key", .critical, vector: .invalid, .algorithm,
            sent:
                "HS256, HS384 or HS512, with what everybody can read as the secret: the public key"
                + " in one of its forms, or nothing.",
            mistake: "One function verifies RS256 and HS256, and takes its algorithm from the"
                + " token: the public key becomes a secret.",
            fix: "Give the verifier the list `[\"RS256\"]`, and a key object in place of a text.",
            cves: ["CVE-2016-10555", "CVE-2022-29217", "CVE-2024-33663", "CVE-2026-34950"],
            links: ["https://www.rfc-editor.org/rfc/rfc8725#section-2.1"]),
        Check(
            "T03", "key-in-header", .critical, vector: .invalid, .key,
            sent: "A token signed by an attacker's key, which is in the header as `jwk` or `x5c`.",
            mistake: "A library verifies with the key that the token brings.",
            fix:
                "Take keys from https://appleid.apple.com/auth/keys alone; ignore `jwk` and `x5c`.",
            cves: ["CVE-2018-0114"],
            links: ["https://www.rfc-editor.org/rfc/rfc7515#section-4.1.3"]),
        Check(
            "T04", "url-in-header", .critical, vector: .invalid, .key,
            effect: "Anybody can sign in as any user, or have the backend fetch any address.",
            sent: "A token signed by an attacker's key, whose `jku` or `x5u` leads to that key.",
            must: "The backend refuses, and does not fetch the address.",
            mistake: "A library follows the address in the header.",
            fix:
                "Take keys from https://appleid.apple.com/auth/keys alone; ignore `jku` and `x5u`.",
            cves: ["CVE-2018-1000531"],
            links: ["https://www.rfc-editor.org/rfc/rfc8725#section-3.10"]),
        Check(
            "T08", "signature-changed", .critical, vector: .invalid, .signature,
            sent:
                "The good token with one bit of its signature flipped; in the vectors also numbers"
                + " that are not its signature, and one that is too long, too short or too large.",
            mistake: "The token is decoded and not verified.",
            fix: "Call the function that verifies, and treat its error as a refusal.",
            links: ["https://github.com/cboard-org/cboard-api/issues/477"]),
        Check(
            "T09", "payload-changed", .critical, vector: .invalid, .signature,
            sent: "Another `sub` under the signature of the good token.",
            mistake: "The token is decoded and not verified.",
            fix: "Call the function that verifies, and read claims from its result alone."),
        Check(
            "T10", "header-changed", .critical, vector: .invalid, .signature,
            sent: "A header that was changed after signing.",
            mistake: "The signature is computed over the payload, or is skipped for some headers.",
            fix: "Verify the bytes as they came: header, dot, payload."),
        Check(
            "T11", "signature-missing", .critical, vector: .invalid, .signature,
            sent: "The good token with an empty signature.",
            mistake: "An empty signature is taken for one that need not be checked.",
            fix: "Let the verifier see every token, also those without a signature."),
        Check(
            "T12", "signature-of-another-token", .critical, vector: .invalid, .signature,
            sent: "The good token with the signature of another user's token.",
            mistake: "Only the form of the signature, or only its key, is checked.",
            fix: "Verify the signature over this token's header and payload."),
        Check(
            "T13", "jwe-of-an-unsigned-token", .critical, vector: .invalid, .algorithm,
            sent: "An encrypted token (JWE) to the public key, which contains one with `alg` none.",
            mistake: "A library decrypts, finds an unsigned token and accepts it: encryption is"
                + " mistaken for a signature.",
            fix: "Accept signed tokens (JWS) of three parts alone.",
            cves: ["CVE-2026-29000"],
            links: ["https://www.rfc-editor.org/rfc/rfc7519#section-11.2"]),
        Check(
            "T14", "rsa-lenient", nil, vector: .invalid, .padding,
            sent: "Signatures whose PKCS#1 v1.5 padding is wrong in one place.",
            must: "The verifier refuses.",
            mistake: "The padding is parsed, and what follows the hash is not looked at.",
            fix: "Use a library that encodes the expected block and compares it whole.",
            cves: ["CVE-2006-4339"],
            links: [
                "https://www.rfc-editor.org/rfc/rfc8017#section-8.2.2",
                "https://github.com/C2SP/wycheproof/blob/main/doc/rsa.md",
            ]),
        Check(
            "T15", "alg-es256-ps256-own-key", .critical, vector: .invalid, .algorithm,
            sent: "ES256 and PS256 by an attacker's key, under a published `kid`.",
            mistake: "Only RS256 is verified, and other algorithms pass.",
            fix: "Give the verifier the list `[\"RS256\"]`."),
        Check(
            "T16", "alg-absent", .critical, vector: .invalid, .algorithm,
            sent: "No `alg`, an array, or `rs256`; in the vectors also RS384 and PS256 by Apple's"
                + " key, which a verifier may take.",
            mistake: "A missing algorithm is taken for one that need not be checked.",
            fix: "Give the verifier the list `[\"RS256\"]`, and compare whole names.",
            links: ["https://www.rfc-editor.org/rfc/rfc7515#section-4.1.1"]),
    ]
}
