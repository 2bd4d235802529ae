/// What several checks have in common: the kind of bug, and what somebody gains from it.
package struct Family: Sendable {
    /// In the manner of Wycheproof: `ALG_CONFUSION`.
    package let bugType: String
    /// What somebody gains, in one sentence.
    package let effect: String

    private init(_ bugType: String, _ effect: String) {
        (self.bugType, self.effect) = (bugType, effect)
    }

    private static let anybody = "Anybody can sign in as any user, without a key of Apple's."
    private static let captured =
        "A token that leaked once signs in for as long as it is kept."
    private static let apple =
        "Only Apple could sign such a token; the backend relies on Apple never doing so."
    private static let csrfEffect =
        "An attacker signs the victim in to the attacker's account, and reads what is entered there."
    private static let log = "Anybody can fill the error log."

    static let algorithm = Family("ALG_CONFUSION", anybody)
    static let key = Family("KEY_CONFUSION", anybody)
    static let signature = Family("SIGNATURE", anybody)
    static let padding = Family("RSA_PADDING", anybody)
    static let audience = Family(
        "AUDIENCE", "The owner of any other app can sign in here as the people who use both.")
    static let claims = Family("CLAIM", apple)
    static let time = Family("TIME", captured)
    static let nonce = Family("NONCE", captured)
    static let tokenKind = Family("TOKEN_KIND", captured)
    static let hash = Family("HASH", "A stolen code can be paired with another token.")
    static let shape = Family("SHAPE", apple)
    static let keySet = Family(
        "KEY_SET", "Nobody can sign in for hours after Apple has a new key.")
    static let identity = Family("IDENTITY", anybody)
    static let csrf = Family("CSRF", csrfEffect)
    static let robustness = Family("ROBUSTNESS", log)
    static let code = Family("CODE", captured)
    static let traffic = Family(
        "TRAFFIC", "The backend asks Apple more than it needs, and suffers when Apple is slow.")
    static let notification = Family("NOTIFICATION", "Anybody can end or delete any account.")
    static let deletion = Family(
        "DELETION",
        "The app stays in the person's list of apps, and App Review refuses it (5.1.1(v)).")
}
