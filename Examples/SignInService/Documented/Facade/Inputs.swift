/// What the application has: the key, and what the app and Apple send.
let pem = ""
let code = ""
let nonce: String? = nil
let token = ""
let identityToken = ""
let body = ""
