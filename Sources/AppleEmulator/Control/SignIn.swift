internal import SIWACrypto
internal import SignInWithApple

/// What `POST /emulator/codes` asks for: one sign-in, without a person and a page.
struct SignIn {
    let client: EmulatedClient
    let user: EmulatedUser
    let nonce: String?
    let redirectURI: String?
    let challenge: PKCEChallenge?

    init(json: JSON, in configuration: EmulatorConfiguration) throws(ShapeError) {
        let reader = try MemberReader(
            json,
            knowing: [
                "client_id", "user", "nonce", "redirect_uri", "code_challenge",
                "code_challenge_method",
            ])
        client = try reader.client(of: configuration)
        user = try reader.user(of: configuration)
        nonce = try reader.optional("nonce")
        redirectURI = try reader.redirectURI(of: client)
        let method: PKCEChallenge.Method? = try reader.optional("code_challenge_method")
        let text: String? = try reader.optional("code_challenge")
        if text == nil, method != nil {
            throw ShapeError("", "'code_challenge_method' needs a 'code_challenge'")
        }
        challenge = text.map { PKCEChallenge(text: $0, method: method ?? .plain) }
    }
}

extension MemberReader {
    fileprivate func client(
        of configuration: EmulatorConfiguration
    ) throws(ShapeError) -> EmulatedClient {
        let name: String = try required("client_id")
        guard let client = configuration.client(name) else {
            let known = configuration.clients.map(\.clientID.rawValue).joined(separator: ", ")
            throw ShapeError("", "'\(name.clipped)' is no client; known are \(known)")
        }
        return client
    }

    fileprivate func user(
        of configuration: EmulatorConfiguration
    ) throws(ShapeError) -> EmulatedUser {
        guard let user = configuration.user(try optional("user")) else {
            let known = configuration.users.map(\.name).joined(separator: ", ")
            throw ShapeError("", "there is no such user; known are \(known)")
        }
        return user
    }

    /// A sign-in on the web always returns somewhere: to the first registered place.
    fileprivate func redirectURI(of client: EmulatedClient) throws(ShapeError) -> String? {
        guard let uri: String = try optional("redirect_uri") else {
            return client.redirectURIs.first
        }
        guard client.redirectURIs.isEmpty || client.redirectURIs.contains(uri) else {
            throw ShapeError("", "'\(uri.clipped)' is not registered for \(client.clientID)")
        }
        return uri
    }
}

extension Service {
    /// Signs a user in: the code and the identity token that an app or a page would get.
    mutating func signIn(_ signIn: SignIn) throws -> (code: String, idToken: String) {
        let now = now()
        let text = TokenText.fresh(.code, shard: try TokenText.shard(of: signIn.user.userID))
        let isFirst = ledger.record(
            Ledger.Code(
                clientID: signIn.client.clientID, user: signIn.user, nonce: signIn.nonce,
                redirectURI: signIn.redirectURI, challenge: signIn.challenge, issuedAt: now),
            as: text)
        let isJudged = isFirst && signIn.client.kind == .app
        let idToken = try identityToken(
            IdentityTokenClaims(
                clientID: signIn.client.clientID, user: signIn.user, companion: .code(text),
                nonce: signIn.nonce, signedInAt: now,
                realUserStatus: isJudged ? signIn.user.realUserStatus : nil))
        return (text, idToken)
    }
}
