internal import SIWACrypto

/// The client_secrets of a run: minted once for each client, and anew before they expire.
struct Credentials: Sendable {
    private let client: Client
    private var minted: [String: ClientSecret] = [:]

    init(_ client: Client) { self.client = client }

    /// The client that speaks for an item.
    func clientID(_ own: ClientID?) -> ClientID { own ?? client.clientID }

    /// A secret that will not expire on its way.
    mutating func secret(
        for own: ClientID?, at now: NumericDate
    ) throws(ClientSecretError) -> ClientSecret {
        let clientID = clientID(own)
        if let secret = minted[clientID.rawValue], secret.expiresAt - now > margin { return secret }
        let secret = try ClientSecret(
            signedBy: client.signingKey, for: clientID, of: client.teamID, at: now,
            lifetime: client.secretLifetime)
        minted[clientID.rawValue] = secret
        return secret
    }

    /// What the answer to an item's request may repeat of it, and nobody may see.
    func secrets(for own: ClientID?) -> [SecretText] {
        minted[clientID(own).rawValue].map { [$0.text] } ?? []
    }

    /// Half of a short life; a minute of a long one, for a request that waits its turn and
    /// for a clock that is not Apple's.
    private var margin: Duration { min(client.secretLifetime / 2, .seconds(60)) }
}

extension TokenRequest {
    /// The request as it goes out.
    func filled(
        for clientID: ClientID, with secret: ClientSecret, at baseURL: BaseURL
    ) -> HTTPRequest {
        carrying(form(clientID: clientID, clientSecret: secret.text), to: baseURL)
    }
}
