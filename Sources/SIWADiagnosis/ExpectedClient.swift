package import SIWACrypto
internal import SIWAJOSE
package import SIWALifecycle

/// What a client_secret is compared with; nil members are not compared.
package struct ExpectedClient: Sendable {
    /// The team that `iss` must name.
    package var teamID: TeamID?
    /// The client that `sub` must name.
    package var clientID: ClientID?
    /// The accepted audiences of an identity token; nil means the client alone.
    package var audiences: [String]?
    /// The key that `kid` must name.
    package var keyID: KeyID?
    /// The key that must verify the signature.
    package var key: KnownKey?
    /// Keys that may have signed it by mistake.
    package var otherKeys: [KnownKey]
    /// Clients it may be for instead.
    package var otherClients: [KnownClient] = []

    /// Names what is known of the client.
    package init(
        teamID: TeamID? = nil, clientID: ClientID? = nil, audiences: [String]? = nil,
        keyID: KeyID? = nil, key: KnownKey? = nil, otherKeys: [KnownKey] = []
    ) {
        self.teamID = teamID
        self.clientID = clientID
        self.audiences = audiences
        self.keyID = keyID
        self.key = key
        self.otherKeys = otherKeys
    }
}

extension ExpectedClient {
    /// Where the settings have this client, as the beginning of an advice; nil if they do not.
    func place(of clientID: String) -> String? {
        otherClients.first { $0.clientID.rawValue.isExactly(clientID) }?.name
    }
}

/// A client with a name that users know, such as a profile of the configuration.
package struct KnownClient: Sendable {
    /// How to use it: `--profile web`.
    package let name: String
    /// Its client id.
    package let clientID: ClientID

    /// Names a client.
    package init(_ name: String, _ clientID: ClientID) {
        (self.name, self.clientID) = (name, clientID)
    }
}

/// A key with a name that users know, such as the path of its file.
package struct KnownKey: Sendable {
    /// The name in messages.
    package let name: String
    /// Its public half.
    package let publicKey: P256PublicKey

    /// Names a key.
    package init(_ name: String, _ publicKey: P256PublicKey) {
        self.name = name
        self.publicKey = publicKey
    }
}
