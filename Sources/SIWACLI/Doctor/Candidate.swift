internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// Another combination of keys and ids on this machine that Apple may accept.
struct Candidate: Sendable {
    /// The difference, as the end of the sentence "Apple accepts …".
    let name: String
    let client: Client
    /// How to use it.
    let advice: String

    /// All other combinations, the likeliest first, without repetitions.
    static func all(beside client: Client, _ localCandidates: LocalCandidates) -> [Candidate] {
        var seen: Set<String> = [identity(of: client)]
        return Candidates(client, localCandidates).all.filter {
            seen.insert(identity(of: $0.client)).inserted
        }
    }

    private static func identity(of client: Client) -> String {
        let key = client.signingKey
        return [
            client.teamID.rawValue, client.clientID.rawValue, key.id.rawValue,
            key.publicKey.x963Representation.hexadecimal,
        ].joined(separator: " ")
    }
}

/// Combinations with one change each, followed by whole profiles.
private struct Candidates {
    private let client: Client
    private let files: [KeyFile]
    private let profiles: [KnownProfile]

    init(_ client: Client, _ localCandidates: LocalCandidates) {
        self.client = client
        files = localCandidates.keyFiles
        profiles = localCandidates.otherProfiles
    }

    var all: [Candidate] {
        keys + keyIDs + swappedIDs + clients + teams + capitals + misnamedKeys + wholeProfiles
    }

    /// Key ID and Team ID look alike.
    private var swappedIDs: [Candidate] {
        let (team, id) = (client.teamID.rawValue, client.signingKey.id.rawValue)
        return [
            Candidate(
                name: "team_id and key_id exchanged",
                client: changed(
                    teamID: TeamID(unchecked: id),
                    key: client.signingKey.named(KeyID(unchecked: team))),
                advice: "set team_id to \(id) and key_id to \(team)")
        ]
    }

    private var keys: [Candidate] {
        files.map { key($0, $0.keyID ?? client.signingKey.id) }
    }

    /// Other key files with the current Key ID, because files may have been renamed or swapped.
    private var misnamedKeys: [Candidate] { files.map { key($0, client.signingKey.id) } }

    private func key(_ file: KeyFile, _ id: KeyID) -> Candidate {
        Candidate(
            name: "\(file.path) as Key ID \(id)",
            client: changed(key: SigningKey(file.privateKey, id: id)),
            advice: "set private_key to \(file.path) and key_id to \(id)")
    }

    private var keyIDs: [Candidate] {
        (files.compactMap(\.keyID) + profiles.compactMap(\.keyID)).unique.map { id in
            Candidate(
                name: "the key in use as Key ID \(id)",
                client: changed(key: client.signingKey.named(id)),
                advice: "set key_id to \(id)")
        }
    }

    private var clients: [Candidate] {
        let prefix = client.teamID.rawValue + "."
        let own = client.clientID.rawValue
        let bare =
            own.hasPrefix(prefix) ? [ClientID(unchecked: String(own.dropFirst(prefix.count)))] : []
        return (bare + profiles.compactMap(\.clientID)).unique.map { id in
            Candidate(
                name: "\(id) as client_id", client: changed(clientID: id),
                advice: """
                    set client_id to \(id): the App ID for codes from an app, the Services ID for \
                    codes from the web
                    """)
        }
    }

    private var teams: [Candidate] {
        profiles.compactMap(\.teamID).unique.map { id in
            Candidate(
                name: "team \(id)", client: changed(teamID: id), advice: "set team_id to \(id)")
        }
    }

    private var capitals: [Candidate] {
        let teamID = TeamID(unchecked: client.teamID.rawValue.uppercased())
        let keyID = KeyID(unchecked: client.signingKey.id.rawValue.uppercased())
        return [
            Candidate(
                name: "the ids in capitals",
                client: changed(
                    teamID: teamID, key: client.signingKey.named(keyID)),
                advice: "set team_id to \(teamID) and key_id to \(keyID)")
        ]
    }

    private var wholeProfiles: [Candidate] {
        profiles.compactMap { profile in
            guard let team = profile.teamID, let clientID = profile.clientID,
                let file = files.first(where: { $0.path == profile.keyPath }),
                let keyID = profile.keyID
            else { return nil }
            return Candidate(
                name: "profile '\(profile.name)' as it is",
                client: changed(
                    teamID: team, clientID: clientID, key: SigningKey(file.privateKey, id: keyID)),
                advice: clientID == client.clientID && team != client.teamID
                    ? """
                    if the app moved to team \(team), use --profile \(profile.name); if not, the \
                    key or the ids of this profile are wrong, or its key was revoked
                    """ : "use it with --profile \(profile.name), or compare the two profiles")
        }
    }

    private func changed(
        teamID: TeamID? = nil, clientID: ClientID? = nil, key: SigningKey? = nil
    ) -> Client {
        Client(
            teamID: teamID ?? client.teamID, clientID: clientID ?? client.clientID,
            signingKey: key ?? client.signingKey, secretLifetime: client.secretLifetime)
    }
}
