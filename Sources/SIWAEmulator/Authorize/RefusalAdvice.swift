// What to change, for the person who sees the error page: Apple's page does not say.
extension Refusal {
    /// What to do about a refused sign-in, by what was examined.
    static func advice(about check: String) -> String {
        switch check {
        case "client_id":
            "Send the App ID or Services ID of a client in emulator.json, letter for letter."
        case "redirect_uri":
            """
            Send one of the redirect_uris of the client in emulator.json, letter for letter (with \
            Apple: the Website URLs of the Services ID). It must be https, with a domain name and \
            without a fragment. For an address of this machine, set the switch \
            allow_loopback_redirect as well.
            """
        case "response_type": "Send response_type=code, or code id_token."
        case "response_mode":
            "Send response_mode=form_post: name, email and tokens are posted, never part of a query."
        case "scope": "Send some of name, email and openid, with a space between them."
        case "code_challenge", "code_challenge_method":
            "Send code_challenge together with code_challenge_method=S256, or neither."
        case "transaction": "Go back to the app and begin the sign-in again."
        case "user", "email": "Go back and choose once more."
        default: "Compare the request with the table in docs/emulator."
        }
    }
}
