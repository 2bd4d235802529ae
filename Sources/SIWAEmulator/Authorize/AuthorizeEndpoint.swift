internal import SIWACrypto
internal import SIWALifecycle

// GET /auth/authorize and the form on its page: a person chooses the user who signs in, and which
// data the client receives.
extension Service {
    /// The most users that a page lists: after a seed there may be a million.
    private static let shownUsers = 100

    /// Shows the page on which a person chooses.
    mutating func authorize(_ form: ReceivedForm) throws -> Answer {
        try refuseRepetition(in: form)
        let request = try ReceivedAuthorizationRequest(
            form, in: configuration, behaviors, examination)
        let page = ConsentPage(
            request: request,
            people: users.users.prefix(Self.shownUsers).map { user in
                ConsentPage.Person(
                    user: user,
                    consent: ledger.consents[user.userID, request.client.clientID],
                    isRelaySilent: ledger.silentRelays.contains(user.userID))
            },
            transaction: openPages.open(request, using: &random.pages))
        return Answer(page.document.page(), because: "ok: asks who signs in")
    }

    /// Takes the submitted form and redirects to the client.
    mutating func consent(_ form: ReceivedForm) throws -> Answer {
        try refuseRepetition(in: form)
        guard let request = openPages.close(try form.required("transaction")) else {
            throw Refusal(
                .invalidRequest,
                in: "transaction",
                because: "this page was answered before, or is too old; begin again")
        }
        examination.clientID = request.client.clientID
        guard form["action"] != "cancel" else {
            let callback = Callback(of: request, [("error", "user_cancelled_authorize")])
            return Answer(callback.page, because: "ok: cancelled")
        }
        let admission = try signIn(
            EmulatedSignIn(
                client: request.client, user: try form.user(of: users),
                nonce: request.nonce, redirectURI: request.redirectURI,
                challenge: request.challenge, sharing: try form.sharing(for: request.scopes)))
        return Answer(
            Callback(of: request, admission).page,
            because: "ok: '\(admission.user.name)' signed in, "
                + (admission.isFirst ? "with a first consent" : "having consented before"))
    }
}

extension ReceivedForm {
    fileprivate func user(of users: UserDirectory) throws(Refusal) -> EmulatedUser {
        guard let user = users[try required("user")] else {
            throw Refusal(.invalidRequest, in: "user", because: "the user does not exist")
        }
        return user
    }

    fileprivate func sharing(
        for scopes: Set<ReceivedAuthorizationRequest.Scope>
    ) throws(Refusal) -> EmailSharing {
        guard scopes.contains(.email) else { return .withheld }
        guard let choice = ConsentPage.EmailChoice(rawValue: try required("email")) else {
            throw Refusal(.invalidRequest, in: "email", because: "must be share or hide")
        }
        return choice == .share ? .shared : .hidden
    }
}
