// N: notifications. D: deletion. X: manners.
extension Catalogue {
    private static let same =
        "Verify notifications like identity tokens: Apple's keys, RS256, `iss`, `aud`."
    private static let documented =
        "https://developer.apple.com/documentation/signinwithapple/processing-changes-for-sign-in-with-apple-accounts"

    static let notifications: [Check] = [
        Check(
            "N01", "genuine-notification", .high, .notification,
            effect: "The account of a person who left Apple or revoked consent stays open.",
            sent: "A genuine notification.", must: "2xx within 5 seconds.",
            mistake: "The endpoint needs a session, a CSRF token or another content type.",
            fix: "Take a POST of JSON with the member `payload` from anybody, and verify it.",
            links: [documented]),
        Check(
            "N02", "forged-notification", .high, vector: .invalid, .notification,
            sent: "An `account-delete` signed by an attacker's key.",
            must: "No effect: the user's session lives.",
            mistake: "The payload is decoded and not verified.", fix: same,
            links: ["https://github.com/Timothylock/go-signin-with-apple/issues/56"]),
        Check(
            "N03", "notification-aud", .high, vector: .invalid, .notification,
            effect: "The owner of another app can end accounts here.",
            sent: "An `account-delete` that Apple signed for another app.",
            must: "No effect: the user's session lives.", mistake: "`aud` is not checked.",
            fix: same),
        Check(
            "N04", "notification-alg-none", .high, vector: .invalid, .notification,
            sent: "An `account-delete` with `alg` none.",
            must: "No effect: the user's session lives.",
            mistake: "The header of the token chooses the algorithm.", fix: same),
        Check(
            "N05", "identity-token-as-notification", .high, vector: .invalid, .notification,
            effect: "Something that every signed-in app holds is taken for an event.",
            sent: "An identity token in place of a notification.",
            must: "No effect: the user's session lives.",
            mistake: "`events` is read only after something was done.",
            fix: "Require `events`, with a `type` and a `sub`."),
        Check(
            "N06", "notification-of-another-user", .high, .notification,
            effect: "A notification about one person ends the account of another.",
            sent: "A genuine `account-delete` about somebody else, and one whose `sub` is known to"
                + " another team only.",
            must: "No effect: the user's session lives.",
            mistake: "The account is found by address, or the newest session is ended.",
            fix: "Find the account by the `sub` of `events` alone."),
        Check(
            "N07", "notification-garbage", .medium, .robustness,
            sent: "A payload that is no token, and an empty body.", must: "No 5xx.",
            mistake: "The payload is split and indexed without a check.",
            fix: "Answer 400 to what cannot be read."),
        Check(
            "N08", "notification-twice", .medium, .notification,
            effect: "Apple repeats what it believes unreceived.",
            sent: "The same notification twice.", must: "2xx both times.",
            mistake: "A repeated `jti` is an error.",
            fix: "Answer 200 to what was seen before, and do nothing."),
        Check(
            "N09", "notification-spellings", .advice, .notification,
            effect: "The account of a person who left Apple or revoked consent stays open.",
            sent: "Both spellings of the event's type, `events` as a text and as an object.",
            must: "2xx each time.",
            mistake: "Only `account-delete` is known, and Apple's documents have both.",
            fix: "Take `account-delete` and `account-deleted`, and parse a text once more.",
            links: [documented]),
    ]

    static let deletion: [Check] = [
        Check(
            "D01", "revoked-at-deletion", .high, .deletion,
            sent: "The deletion of an account of this run.",
            must: "Apple is asked to revoke, with a token that works, within `revokes_within`.",
            mistake: "Only the own record is deleted, or a token is sent that Apple does not know.",
            fix: "Keep the refresh token, and send it to /auth/revoke before deleting it.",
            links: [
                "https://developer.apple.com/support/offering-account-deletion-in-your-app/"
            ]),
        Check(
            "D02", "both-tokens-revoked", .advice, .deletion,
            effect: "A session of the person at Apple outlives the account.",
            sent: "Two sign-ins, then the deletion.", must: "Both tokens are revoked.",
            mistake: "Only the latest refresh token is kept.",
            fix: "Keep every refresh token, or revoke the old one when a new one comes."),
        Check(
            "D03", "revocation-retried", .high, .deletion,
            sent: "The deletion, while Apple answers the first three revocations with 503.",
            must: "The token is revoked all the same, within `retries_within`.",
            mistake:
                "The token is deleted with the account, and the revocation is not tried again.",
            fix: "Put the revocation into a queue, and delete the token when it succeeded."),
        Check(
            "D04", "deleted-twice", .medium, .robustness,
            effect: "A repeated request crashes.", sent: "The deletion again.", must: "No 5xx.",
            mistake: "The account is read before it is known to be there.",
            fix: "Answer 401, 404 or 200."),
        Check(
            "D05", "sign-in-after-deletion", .advice, .deletion,
            effect: "A person who left cannot come back.",
            sent: "A good sign-in after the deletion.", must: "It succeeds.",
            mistake: "The `sub` stays reserved, or the account is only marked.",
            fix: "Let a known `sub` make a new account."),
    ]

    static let manners: [Check] = [
        Check(
            "X01", "error-5xx", .medium, .robustness,
            effect: "Anybody can fill the error log, or worse.",
            sent: "Everything that was sent in this run.", must: "No answer is a 5xx.",
            mistake: "The error of a verifier is not caught.",
            fix: "Treat every error of the verifier as a refusal: 400 or 401."),
        Check(
            "X02", "slow", .medium, .robustness,
            effect: "Anybody can keep a worker busy with one request.",
            sent: "Everything that was sent in this run.", must: "Every answer comes in time.",
            mistake: "A fetch without a time limit, or a pattern that backtracks.",
            fix: "Give every fetch a time limit, and limit the length of a token."),
        Check(
            "X03", "cut", .medium, .robustness,
            effect: "Anybody can end the process, or a worker of it.",
            sent: "Everything that was sent in this run.", must: "Every request is answered.",
            mistake: "A trap, an uncaught error or a proxy ends the connection.",
            fix: "Look into the backend's log at the time of the request."),
    ]
}
