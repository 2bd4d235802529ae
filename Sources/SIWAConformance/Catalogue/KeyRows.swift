// T05 to T07, T17, T18, T70, T71: which key.
extension Catalogue {
    static let keys: [Check] = [
        Check(
            "T05", "kid-of-another-key", .critical, vector: .invalid, .key,
            sent: "A token signed by one published key, under the `kid` of another.",
            mistake: "Every key is tried in turn, whatever the token says.",
            fix: "Choose the key by `kid`, and verify with that key alone.",
            links: ["https://www.rfc-editor.org/rfc/rfc7515#section-4.1.4"]),
        Check(
            "T06", "kid-unknown", .critical, vector: .invalid, .key,
            sent: "A token of an attacker's key under a `kid` that is not published.",
            mistake: "Without a key, the check is left out.",
            fix: "Refuse when the key set, fetched again at most every few seconds, lacks the"
                + " `kid`."),
        Check(
            "T07", "unpublished-key", .critical, vector: .invalid, .key,
            sent: "A token of an attacker's key under a published `kid`.",
            mistake: "Only the `kid` is compared.",
            fix: "Verify the signature with the key of that `kid`."),
        Check(
            "T17", "kid-absent", .high, vector: .invalid, .key,
            sent:
                "A token of an attacker's key without `kid`, or with a path, SQL, a URL, null or an"
                + " array in its place; in the vectors also Apple's key without `kid`, which a"
                + " verifier may take.",
            mistake: "The `kid` becomes part of a file name, a query or a URL, or a missing one"
                + " skips the check.",
            fix: "Look the `kid` up in the key set by comparing texts, and refuse if it is not"
                + " there.",
            cves: ["CVE-2018-15801"],
            links: ["https://www.rfc-editor.org/rfc/rfc8725#section-3.10"]),
        Check(
            "T18", "key-not-for-this", nil, vector: .invalid, .key,
            sent: "The good token, where the key set has another kind of key, or one for another"
                + " purpose, under its `kid`.",
            must: "The verifier refuses; a key set without `alg` and `use` is good.",
            mistake: "The purpose of a key is not read, or a key without `alg` lets the token"
                + " choose.",
            fix: "Use only keys with `kty` RSA and, if they are there, `use` sig, `alg` RS256 and"
                + " `key_ops` verify.",
            cves: ["CVE-2026-22817"],
            links: ["https://www.rfc-editor.org/rfc/rfc7517#section-4.2"]),
        Check(
            "T70", "withdrawn-key", nil, vector: .invalid, .keySet,
            effect: "A key that Apple withdrew, because it leaked, signs in as anybody.",
            sent: "A good token, where the key set no longer has its key.",
            must: "The verifier refuses.",
            mistake: "Keys are kept for ever once they were seen.",
            fix: "Replace the whole key set when it is fetched, at least once a day."),
        Check(
            "T71", "new-key", .high, vector: .valid, .keySet,
            sent: "A good token under a key that was published a second ago.",
            must: "The backend accepts within 90 seconds.",
            mistake: "The key set is fetched once, or once a day, and not when a `kid` is missing.",
            fix: "Fetch the key set again when a `kid` is missing, at most every 10 seconds or so.",
            links: ["https://openid.net/specs/openid-connect-core-1_0.html#RotateSigningKeys"]),
    ]
}
