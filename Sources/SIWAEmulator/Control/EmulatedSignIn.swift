internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// One sign-in: the choices made on the page, or by `POST /emulator/codes`.
struct EmulatedSignIn {
    let client: EmulatedClient
    let user: EmulatedUser
    let nonce: String?
    let redirectURI: String?
    let challenge: PKCEChallenge?
    /// Which address the client receives, if this is the first sign-in.
    let sharing: EmailSharing
}

extension EmulatedSignIn {
    /// The members of a control request that describe a sign-in.
    static let members = [
        "client_id", "user", "nonce", "redirect_uri", "code_challenge", "code_challenge_method",
    ]

    init(
        json: JSON, in configuration: EmulatorConfiguration, _ users: UserDirectory
    ) throws(ShapeError) {
        let reader = try JSONObjectReader(json, knowing: Self.members)
        client = try reader.client(of: configuration)
        user = try reader.user(of: users)
        nonce = try reader.optional("nonce")
        redirectURI = try reader.redirectURI(of: client)
        let method: PKCEChallenge.Method? = try reader.optional("code_challenge_method")
        let text: String? = try reader.optional("code_challenge")
        if text == nil, method != nil {
            throw ShapeError("", "'code_challenge_method' needs a 'code_challenge'")
        }
        challenge = text.map { PKCEChallenge(text: $0, method: method ?? .plain) }
        sharing = .shared
    }
}

extension JSONObjectReader {
    func client(
        of configuration: EmulatorConfiguration
    ) throws(ShapeError) -> EmulatedClient {
        let name: String = try required("client_id")
        guard let client = configuration.client(name) else {
            let known = configuration.clients.map(\.clientID.rawValue).joined(separator: ", ")
            throw ShapeError("", "'\(name.clipped)' is not a client; known are \(known)")
        }
        return client
    }

    func user(of users: UserDirectory) throws(ShapeError) -> EmulatedUser {
        guard let user = users[try optional("user")] else {
            let known = users.users.prefix(20).map(\.name).joined(separator: ", ")
            throw ShapeError("", "the user does not exist; known are \(known)")
        }
        return user
    }

    /// The redirect URI of a sign-in on the web; by default the first one registered.
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
