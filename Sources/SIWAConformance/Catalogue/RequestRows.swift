// R: what a request claims besides its token. W: the web flow. C: codes. K: keys.
extension Catalogue {
    private static let own = "The account is the token's own, or the backend refuses."
    private static let verified = "Take the identity from the verified token alone."

    /// The usual names of a user's id in the body of a request.
    static let userIDMembers = [
        "sub", "user_id", "userId", "user", "userIdentifier", "user_identifier", "apple_id",
        "appleId",
    ]

    static let requests: [Check] = [
        Check(
            "R01", "audience-in-body", .critical, .identity,
            effect: "Anybody with an app of their own can sign in as any of its users.",
            sent: "An attacker's client id in the body, with a token for it.",
            mistake: "The caller says which audience to expect.",
            fix: "Keep the list of your client ids in the configuration.",
            links: ["https://github.com/InsForge/InsForge/issues/1302"]),
        Check(
            "R02", "user-id-in-body", .critical, .identity,
            sent:
                "A good token, and another user's id in the body: where the file writes `{{sub}}`, and as "
                + userIDMembers.map { "`\($0)`" }.joined(separator: ", ") + ".",
            must: own, mistake: "The id of the body is used, because it is at hand.", fix: verified),
        Check(
            "R03", "email-in-body", .high, .identity,
            effect: "An attacker signs in to the account of an address.",
            sent:
                "A good token, and another user's address in the body, as `email`, in Apple's `user`, and"
                + " where the file writes them. Where the backend compares the posted token with that"
                + " of the exchange, also a posted token that nobody signed, with the address.",
            must: own, mistake: "The account is looked up by the address that the app sent.",
            fix: verified,
            links: ["https://www.descope.com/blog/post/noauth"]),
        Check(
            "R04", "email-in-body-only", .high, .identity,
            effect:
                "An attacker without an address in the token signs in to the account of any address.",
            sent: "A token without `email`, and another user's address in the body.", must: own,
            mistake: "Where the token has no address, that of the body is taken.",
            fix: "Look accounts up by `sub`; take an address from the token, or none."),
        Check(
            "R05", "email-unverified", .high, .identity,
            effect: "An attacker takes over the account of a person who has a password there.",
            sent: "A token whose `email` is that of a password account, and is not verified.",
            must: "The backend does not sign in to that account.",
            mistake: "Accounts are linked by address, and `email_verified` is not read, or its text"
                + " `\"false\"` counts as true.",
            fix: "Link by address only if `email_verified` is true or `\"true\"`, and the person"
                + " proves to own the account."),
        Check(
            "R06", "code-of-another-user", .high, .hash,
            sent: "The identity token of another user than the code's.",
            mistake: "The token is believed, and the code is exchanged without a comparison.",
            fix:
                "Compare the `sub` of the exchange's identity token with that of the posted one, or"
                + " verify `c_hash`."),
        Check(
            "R07", "code-not-sent", .critical, .identity,
            sent: "A token that an attacker's key signed, without the code.",
            mistake:
                "Without a code nothing is exchanged, and the posted token is decoded instead.",
            fix: "Require the code where it says who signs in, and verify every token that counts."),
    ]

    private static let bound =
        "Keep `state` in the browser's session, and compare it at the callback."

    static let web: [Check] = [
        Check(
            "W01", "state-absent", .high, .csrf,
            sent: "A callback without `state`, also in a browser that began no sign-in.",
            mistake: "`state` is compared only if it is there, or two absent values are equal.",
            fix: bound,
            links: ["https://www.rfc-editor.org/rfc/rfc6749#section-10.12"]),
        Check(
            "W02", "state-wrong", .high, .csrf, sent: "A callback with an invented `state`.",
            mistake: "`state` is not compared.", fix: bound,
            links: ["https://www.rfc-editor.org/rfc/rfc6749#section-10.12"]),
        Check(
            "W03", "state-of-another-session", .high, .csrf,
            sent: "A genuine callback, brought by another browser than the one that began.",
            mistake: "`state` is kept in memory or signed, but not bound to the browser, or it is"
                + " compared only if the session has one.",
            fix: bound, links: ["https://www.rfc-editor.org/rfc/rfc9700#section-4.7"]),
        Check(
            "W04", "id-token-of-another-user", .high, .hash,
            effect: "A captured identity token signs in with the code of the attacker.",
            sent: "The identity token of another user than the code's.",
            mistake: "The posted token is believed, and the code is not compared with it.",
            fix: "Believe the token of the exchange alone, or compare both `sub`s."),
        Check(
            "W05", "cancelled", .medium, .robustness,
            effect: "A person who cancels sees an error page.",
            sent: "`error=user_cancelled_authorize`.", must: "No sign-in, and no 5xx.",
            mistake: "The callback reads `code` before `error`.",
            fix: "Read `error` first, and go back to the sign-in page."),
        Check(
            "W06", "user-json", .medium, .robustness,
            sent: "A `user` that is no JSON, another kind of JSON, or 100 KB long.",
            must: "No 5xx.", mistake: "`user` is parsed, and its fields are read, without a check.",
            fix: "Ignore a `user` that is not as documented: it is a hint, from the browser."),
        Check(
            "W07", "callback-form", .advice, .csrf,
            effect: "A link signs in, where only Apple's page should be able to.",
            sent: "`state` twice, and the callback as a GET where a POST is due.",
            mistake: "The callback takes its parameters from wherever they are.",
            fix: "Read the body of a POST alone, and refuse parameters that are there twice."),
        Check(
            "W08", "redirect-uri", .medium, .code,
            effect:
                "A code of one redirect URI is good at another, and Apple refuses the exchange.",
            sent: "A good sign-in.",
            must: "`redirect_uri` is in the exchange, and is that of the request.",
            mistake: "The exchange has no `redirect_uri`, or one that is made anew.",
            fix: "Keep the `redirect_uri` in one setting, and send it both times."),
    ]

    static let codes: [Check] = [
        Check(
            "C01", "code-exchanged-once", .high, .code,
            effect: "A sign-in fails when an answer is lost, and Apple sees a stolen code.",
            sent: "A good sign-in, whose exchange is answered with 500 or not at all.",
            must: "The code is exchanged once.",
            mistake: "An HTTP client repeats a POST after a failure.",
            fix: "Do not repeat the exchange; let the person sign in again."),
        Check(
            "C02", "code-twice", .high, .code,
            sent: "The same code a second time.",
            mistake: "The result of an exchange is kept, and found again by its code.",
            fix: "Exchange each code once, and keep nothing under it."),
        Check(
            "C03", "refresh-token-in-answer", .advice, .code,
            effect: "A leaked answer is a lasting session.",
            sent: "A good sign-in.", must: "The answer has no refresh token.",
            mistake: "Apple's answer is passed on whole.",
            fix: "Answer with a session of your own, and keep the refresh token on the server."),
        Check(
            "C04", "secret-in-url", .advice, .code,
            effect: "Codes and secrets are in the logs of proxies and servers.",
            sent: "A good sign-in.",
            must: "Neither the code nor the secret is in a URL that the backend asks for.",
            mistake: "The parameters of the exchange are put into the query.",
            fix: "Send them in the body, as a form."),
    ]

    static let traffic: [Check] = [
        Check(
            "K01", "key-fetches", .advice, .traffic, sent: "30 good sign-ins.",
            must: "The key set is fetched a few times at most.",
            mistake: "The key set is fetched for each token.",
            fix: "Keep the key set for a day, and fetch it again when a `kid` is missing."),
        Check(
            "K02", "key-fetches-for-unknown-kids", .advice, .traffic,
            effect: "Anybody can have the backend send requests to Apple, one for each of theirs.",
            sent: "30 tokens with invented `kid`s.",
            must: "The key set is fetched a few times at most.",
            mistake: "Each missing `kid` fetches the key set.",
            fix: "Fetch it for a missing `kid` at most every 10 seconds or so."),
        Check(
            "K03", "key-endpoint-fails", .advice, .traffic,
            sent: "Good sign-ins, while the key set comes late, as a 503, or as a page of HTML.",
            must: "An answer within 35 seconds, either verdict, no 5xx without a body.",
            mistake: "The error of the fetch ends the request.",
            fix: "Give the fetch a time limit, keep the last good key set, and answer 503 with a"
                + " text if there is none."),
    ]
}
