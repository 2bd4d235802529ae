/// Every check of `siwa-emulator conform`, in the order in which they run and are listed.
package enum Catalogue {
    private static let anybody = "Anybody can sign in as any user, without a key of Apple's."
    private static let stranger =
        "The owner of any other app can sign in here as the people who use both."
    private static let captured = "A token that leaked once signs in for as long as it is kept."
    private static let csrf =
        "An attacker signs the victim in to the attacker's account, and reads what is entered there."
    private static let claims =
        "Only Apple could sign such a token; the backend relies on Apple never doing so."

    package static let all: [Check] = [
        Check("T71", "new-key", .high, "Nobody can sign in for hours after Apple has a new key."),
        Check("T01", "alg-none", .critical, anybody),
        Check("T02", "alg-hs-public-key", .critical, anybody),
        Check("T03", "key-in-header", .critical, anybody),
        Check("T05", "kid-of-another-key", .critical, anybody),
        Check("T06", "kid-unknown", .critical, anybody),
        Check("T07", "unpublished-key", .critical, anybody),
        Check("T08", "signature-changed", .critical, anybody),
        Check("T09", "payload-changed", .critical, anybody),
        Check("T10", "header-changed", .critical, anybody),
        Check("T11", "signature-missing", .critical, anybody),
        Check("T12", "signature-of-another-token", .critical, anybody),
        Check("T15", "alg-es256-ps256-own-key", .critical, anybody),
        Check("T16", "alg-absent", .critical, anybody),
        Check("T17", "kid-absent", .high, anybody),
        Check("T20", "aud-of-another-team", .high, stranger),
        Check("T21", "aud-prefix", .high, stranger),
        Check("T22", "aud-of-another-client", .high, stranger),
        Check("T23", "aud-absent", .advice, claims),
        Check("T24", "aud-empty", .advice, claims),
        Check("T26", "aud-array-with-strangers", .advice, claims),
        Check("T27", "iss-other", .advice, claims),
        Check("T28", "iss-absent", .advice, claims),
        Check("T30", "expired", .high, captured),
        Check("T31", "exp-absent", .advice, claims),
        Check("T33", "iat-future", .advice, claims),
        Check("T34", "nbf-future", .advice, claims),
        Check("T40", "nonce-of-another-sign-in", .high, captured),
        Check("T41", "nonce-absent-in-token", .high, captured),
        Check(
            "T42", "nonce-not-sent", .high,
            "The nonce protects nobody: an attacker simply leaves it out with a stolen token."),
        Check("T45", "replayed", .advice, captured),
        Check("T50", "c_hash-wrong", .medium, "A stolen code can be paired with another token."),
        Check("T52", "notification-as-identity-token", .high, captured),
        Check("T53", "client-secret-as-identity-token", .high, captured),
        Check("T54", "access-token", .high, captured),
        Check("T60", "sub-absent", .advice, claims),
        Check("T61", "duplicate-members", .advice, claims),
        Check("T62", "crit-unknown", .advice, claims),
        Check("T63", "b64-false", .advice, claims),
        Check("T64", "parts", .advice, claims),
        Check("T65", "utf8", .advice, claims),
        Check("T66", "large", .advice, claims),
        Check(
            "R01", "audience-in-body", .critical,
            "Anybody with an app of their own can sign in as any of its users."),
        Check("R02", "user-id-in-body", .critical, anybody),
        Check("R03", "email-in-body", .high, "An attacker signs in to the account of an address."),
        Check(
            "R04", "email-in-body-only", .high,
            "An attacker without an address in the token signs in to the account of any address."),
        Check("W01", "state-absent", .high, csrf),
        Check("W02", "state-wrong", .high, csrf),
        Check("W03", "state-of-another-session", .high, csrf),
        Check(
            "W04", "id-token-of-another-user", .high,
            "A captured identity token signs in with the code of the attacker."),
        Check("W05", "cancelled", .medium, "A person who cancels sees an error page."),
        Check("W06", "user-json", .medium, "Anybody can fill the error log."),
        Check("C01", "code-exchanged-once", .high, "A sign-in fails when an answer is lost."),
        Check("C02", "code-twice", .high, captured),
        Check("C03", "refresh-token-in-answer", .advice, "A leaked answer is a lasting session."),
        Check(
            "N01", "genuine-notification", .high,
            "The account of a person who left Apple or revoked consent stays open."),
        Check("N02", "forged-notification", .high, "Anybody can end or delete any account."),
        Check("N03", "notification-aud", .high, "The owner of another app can end accounts here."),
        Check("N04", "notification-alg-none", .high, "Anybody can end or delete any account."),
        Check("N05", "identity-token-as-notification", .medium, "Garbage is taken for an event."),
        Check("N07", "notification-garbage", .medium, "Anybody can fill the error log."),
        Check("N08", "notification-twice", .medium, "Apple repeats what it believes unreceived."),
        Check(
            "D01", "revoked-at-deletion", .high,
            "The app stays in the person's list of apps, and App Review refuses it (5.1.1(v))."),
        Check("D04", "deleted-twice", .medium, "A repeated request crashes."),
        Check("D05", "sign-in-after-deletion", .advice, "A person who left cannot come back."),
        Check("X01", "error-5xx", .medium, "Anybody can fill the error log, or worse."),
        Check("X02", "slow", .medium, "Anybody can keep a worker busy with one request."),
        Check("X03", "cut", .medium, "Anybody can end the process, or a worker of it."),
    ]

    /// The check called `id`.
    package static func check(_ id: String) -> Check? { all.first { $0.id == id } }
}
