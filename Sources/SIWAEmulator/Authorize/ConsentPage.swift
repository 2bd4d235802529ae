internal import SIWALifecycle

/// The page on which a person chooses a user and the data that the client receives.
struct ConsentPage {
    /// What to do with the address, as the form sends it.
    enum EmailChoice: String {
        case share
        case hide
    }

    /// A user, and what the client already knows of the user.
    struct Person {
        let user: EmulatedUser
        /// Nil before the first sign-in with the client.
        let consent: EmailSharing?
        let isRelaySilent: Bool
    }

    let request: ReceivedAuthorizationRequest
    let people: [Person]
    /// Identifies this page when its form is submitted.
    let transaction: String

    var document: Document {
        Document(
            title: "Sign in to \(request.client.clientID)",
            content: """
                \(introduction)
                <form method="post" action="\(EmulatorRoute.consent.rawValue)">
                <input type="hidden" name="transaction" value="\(transaction)">
                <fieldset>
                <legend>Who signs in?</legend>
                \(people.enumerated().map { radio($1, isFirst: $0 == 0) })
                </fieldset>
                \(request.scopes.contains(.email) ? Self.emailChoices : "")
                <p class="actions"><button class="primary" name="action" value="continue">\
                Continue</button> \
                <button name="action" value="cancel">Cancel</button></p>
                </form>
                """)
    }

    private var introduction: HTML {
        let host = WebAddress(request.redirectURI)?.host ?? ""
        let scopes = ReceivedAuthorizationRequest.Scope.allCases
            .filter { $0 != .openid && request.scopes.contains($0) }.map(\.rawValue)
        let asked =
            scopes.isEmpty
            ? "neither name nor email" : scopes.joined(separator: " and ")
        return """
            <p>\(request.client.clientID.rawValue) asks for \(asked). Afterwards you return to \
            \(host).</p>
            """
    }

    private func radio(_ person: Person, isFirst: Bool) -> HTML {
        let user = person.user
        let checked: HTML = isFirst ? " checked" : ""
        return """
            <label><input type="radio" name="user" value="\(user.name)"\(checked)>
            <span>\(user.displayName ?? user.name) \
            <small>\(user.email ?? "no address"), \(person.history)</small></span></label>
            """
    }

    private static let emailChoices: HTML = """
        <fieldset aria-describedby="email-note">
        <legend>The address</legend>
        <label><input type="radio" name="email" value="\(EmailChoice.share.rawValue)" checked>
        <span>Share my email</span></label>
        <label><input type="radio" name="email" value="\(EmailChoice.hide.rawValue)">
        <span>Hide my email <small>a relay address takes its place</small></span></label>
        <p id="email-note"><small>Asked only at the first sign-in; returning users have already \
        chosen.</small></p>
        </fieldset>
        """
}

extension ConsentPage.Person {
    /// A summary of the user's earlier sign-ins with the client.
    fileprivate var history: String {
        let mail = isRelaySilent ? ", mail to the relay address is off" : ""
        let past =
            switch consent {
            case nil: "first time here"
            case .shared: "was here before and shares the address"
            case .hidden: "was here before and hides the address"
            case .withheld: "was here before and was not asked for the address"
            }
        return past + mail
    }
}
