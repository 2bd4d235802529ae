internal import JOSE
internal import Lifecycle

/// The client that requests speak for.
enum RequestClient: Sendable {
    /// With its key, which mints a secret for each request.
    case signing(LoadedClient)
    /// With a secret that another machine minted.
    case given(GivenClientSecret, Setting<ClientSecretPlace>)

    /// Where the client_secret of each request comes from.
    var secrets: any ClientSecretSource {
        switch self {
        case .signing(let loaded): loaded.client
        case .given(let secret, _): secret
        }
    }

    var clientID: ClientID { secrets.clientID }

    var teamID: TeamID {
        switch self {
        case .signing(let loaded): loaded.client.teamID
        case .given(let given, _): given.secret.teamID
        }
    }

    /// The only client it can speak for; nil for any of the team.
    var onlyClientID: ClientID? {
        if case .given(let secret, _) = self { secret.clientID } else { nil }
    }

    /// The client with its key; nil for a given secret.
    var signing: LoadedClient? {
        if case .signing(let loaded) = self { loaded } else { nil }
    }

    /// How long its secrets last from the time at which they are minted.
    var secretLifetime: Duration {
        switch self {
        case .signing(let loaded): loaded.client.secretLifetime
        case .given(let given, _): given.secret.expiresAt - given.secret.issuedAt
        }
    }
}

extension Session {
    /// The client, with its key or with a client_secret, as the settings have it.
    func requestClient() throws -> RequestClient {
        guard let place = try settings.clientSecretPlace(in: world) else {
            return .signing(try client())
        }
        return .given(try givenSecret(place), place)
    }
}
