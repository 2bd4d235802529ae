internal import SIWAJOSE
package import SIWALifecycle

/// The client that sends requests.
package enum RequestClient: Sendable {
    /// A client with its key, which mints secrets.
    case signing(LoadedClient)
    /// A client with a secret that another machine minted.
    case given(GivenClientSecret, Setting<ClientSecretPlace>)

    /// The source of client_secrets.
    package var secrets: any ClientSecretSource {
        switch self {
        case .signing(let loaded): loaded.client
        case .given(let secret, _): secret
        }
    }

    package var clientID: ClientID { secrets.clientID }

    package var teamID: TeamID {
        switch self {
        case .signing(let loaded): loaded.client.teamID
        case .given(let given, _): given.secret.teamID
        }
    }

    /// The only client that it can authenticate as; nil for all clients of the team.
    package var onlyClientID: ClientID? {
        if case .given(let secret, _) = self { secret.clientID } else { nil }
    }

    /// The client with its key; nil for a given secret.
    var signing: LoadedClient? {
        if case .signing(let loaded) = self { loaded } else { nil }
    }

    /// The lifetime of its secrets.
    package var secretLifetime: Duration {
        switch self {
        case .signing(let loaded): loaded.client.secretLifetime
        case .given(let given, _): given.secret.expiresAt - given.secret.issuedAt
        }
    }
}

extension Session {
    /// The client of the settings, with its key or with a client_secret.
    package func requestClient() throws -> RequestClient {
        guard let place = try settings.clientSecretPlace(in: world) else {
            return .signing(try client())
        }
        return .given(try givenSecret(place), place)
    }
}
