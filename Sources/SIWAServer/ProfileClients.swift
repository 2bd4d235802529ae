internal import SIWAApplication
import SIWALifecycle

/// The clients of all profiles, which share one vault.
final class ProfileClients: Sendable {
    /// All of them, in the order of the configuration.
    let all: [ProfileClient]
    /// The client of requests without a client_id; nil if the configuration has no default profile.
    let standard: ProfileClient?
    /// The accepted values of `aud` in identity tokens and notifications.
    let audiences: [String]
    /// The client_secrets that were minted for callers.
    let secrets = MintedSecrets()

    /// - Parameter standard: the name of the default profile.
    init(_ all: [ProfileClient], standard: String?) {
        self.all = all
        self.standard = all.first { $0.name == standard } ?? (all.count == 1 ? all[0] : nil)
        var audiences: [String] = []
        for audience in all.flatMap({ $0.audiences + [$0.clientID.rawValue] })
        where !audiences.contains(audience) { audiences.append(audience) }
        self.audiences = audiences
    }

    /// The client with this id; nil if no profile has it. Of several profiles with the same client,
    /// the default profile is taken.
    subscript(clientID: ClientID) -> ProfileClient? {
        standard?.clientID == clientID ? standard : all.first { $0.clientID == clientID }
    }

    /// Fails if several profiles have the same client and none of them is the default profile: keys
    /// and redirect URIs may differ, and requests name the client only.
    func checkDistinct() throws(Diagnosis) {
        for client in all where client.clientID != standard?.clientID {
            let names = all.filter { $0.clientID == client.clientID }.map { "'\($0.name)'" }
            guard names.count == 1 else {
                throw Diagnosis(
                    .configuration,
                    """
                    the profiles \(names.joined(separator: " and ")) have the same client_id, \
                    \(client.clientID), and none of them is the default profile
                    """,
                    hints: [
                        "set default_profile to the one whose key siwa-server is to use",
                        "or give siwa-server a configuration without the others, with --config",
                    ], exitCode: .settings)
            }
        }
    }

    /// The ids of the clients without duplicates: profiles may share a client.
    var clientIDs: [ClientID] {
        var ids: [ClientID] = []
        for client in all where !ids.contains(client.clientID) { ids.append(client.clientID) }
        return ids
    }

    /// The clients whose tokens a notification concerns: those of the team. Its `aud` is the primary
    /// App ID of the group, which may have no profile itself.
    func clients(concernedBy audience: String) -> [ClientID] {
        let teams = all.filter {
            $0.clientID.rawValue == audience || $0.audiences.contains(audience)
        }.map(\.teamID)
        let ofTeams = all.filter { teams.contains($0.teamID) }.map(\.clientID)
        return Array(Set(ofTeams + [ClientID(unchecked: audience)]))
    }

    /// The audiences of the notifications that concern a client.
    func audiences(concerning clientID: ClientID) -> [ClientID] {
        audiences.filter { clients(concernedBy: $0).contains(clientID) }
            .map(ClientID.init(unchecked:))
    }

    /// The client that asks Apple what concerns no client alone: for its keys, and for the time.
    var asking: ProfileClient? { standard ?? all.first }

    /// The client of a request, or the default one.
    ///
    /// - Throws: ``Diagnosis`` if no profile has it.
    func client(_ clientID: ClientID?) throws(Diagnosis) -> ProfileClient {
        guard let clientID else {
            guard let standard else {
                throw .malformed("client_id", "is required: there is no default profile")
            }
            return standard
        }
        guard let client = self[clientID] else {
            throw .malformed("client_id", "'\(clientID)' is not the client of a profile")
        }
        return client
    }
}
