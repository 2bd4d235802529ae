internal import SIWACrypto

/// The client_secrets of a run: asked for once for each client, and anew before they expire.
struct Credentials: Sendable {
    private let client: any ClientSecretSource
    private var current: [String: ClientSecret] = [:]

    init(_ client: any ClientSecretSource) { self.client = client }

    /// The client that speaks for an item.
    func clientID(_ own: ClientID?) -> ClientID { own ?? client.clientID }

    /// A secret that will not expire on its way.
    mutating func secret(
        for own: ClientID?, at now: NumericDate
    ) throws(ClientSecretError) -> ClientSecret {
        let clientID = clientID(own)
        if let secret = current[clientID.rawValue],
            secret.expiresAt - now > client.renewalMargin
        {
            return secret
        }
        let secret = try client.secret(for: clientID, at: now)
        current[clientID.rawValue] = secret
        return secret
    }

    /// What the answer to an item's request may repeat of it, and nobody may see.
    func secrets(for own: ClientID?) -> [SecretText] {
        current[clientID(own).rawValue].map { [$0.text] } ?? []
    }
}

extension TokenRequest {
    /// The request as it goes out.
    func filled(
        for clientID: ClientID, with secret: ClientSecret, at baseURL: BaseURL
    ) -> HTTPRequest {
        carrying(form(clientID: clientID, clientSecret: secret.text), to: baseURL)
    }
}
