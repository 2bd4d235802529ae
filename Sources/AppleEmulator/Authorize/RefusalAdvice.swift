// What to change, for the person who sees the error page: Apple's page does not say.
extension Refusal {
    /// What to do about a refused sign-in.
    var advice: String {
        switch (check, code) {
        case ("client_id", _):
            "Send the App ID or Services ID of a client in emulator.json, letter for letter."
        case ("redirect_uri", .invalidRequest):
            """
            Send an https address with a domain name and without a fragment. To try an address of \
            this machine, set the switch allow_loopback_redirect.
            """
        case ("redirect_uri", _):
            """
            Add this address to redirect_uris of the client in emulator.json, letter for letter; \
            with Apple, to the Website URLs of the Services ID.
            """
        case ("response_type", _): "Send response_type=code, or code id_token."
        case ("response_mode", _):
            "Send response_mode=form_post: name and email are posted, never part of an address."
        case ("scope", _): "Send some of name, email and openid, with a space between them."
        case ("code_challenge", _), ("code_challenge_method", _):
            "Send code_challenge together with code_challenge_method=S256, or neither."
        case ("transaction", _): "Go back to the app and begin the sign-in again."
        case ("user", _), ("email", _): "Go back and choose once more."
        default: "Compare the request with the table in docs/emulator.md."
        }
    }
}
