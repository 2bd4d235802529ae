internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The settings of a new configuration.
struct InitialSettings: Sendable {
    let teamID: TeamID
    let keyID: KeyID
    /// The name of the key's file, in the configuration's folder.
    let keyName: String
    /// The App ID; nil if there is only a website.
    let appID: ClientID?
    /// The Services ID; nil if there is no website.
    let servicesID: ClientID?
    let redirectURI: String?
    let baseURL: String?
    /// An absolute path.
    let caFile: String?
    /// Nil without a vault.
    let vaultURL: String?

    /// The first one is the default.
    var profileNames: [String] { profiles.map(\.name) }

    /// The configuration file.
    var text: SecretBytes { SecretBytes((json.indentedText + "\n").utf8) }

    private var json: JSON {
        let members: [JSON.Member] = [
            .init("default_profile", .string(profiles[0].name)),
            .init("profiles", .object(profiles)),
        ]
        return .object(members + (vault.map { [.init("vault", $0)] } ?? []))
    }

    private var profiles: [JSON.Member] {
        let clients = [("app", appID, nil), ("web", servicesID, redirectURI)]
        return clients.compactMap { name, clientID, redirectURI in
            clientID.map { JSON.Member(name, profile($0, redirectURI)) }
        }
    }

    private func profile(_ clientID: ClientID, _ redirectURI: String?) -> JSON {
        let members = [
            ("team_id", teamID.rawValue), ("client_id", clientID.rawValue),
            ("key_id", keyID.rawValue), ("private_key", keyName), ("redirect_uri", redirectURI),
            ("base_url", baseURL), ("ca_file", caFile),
        ]
        // A group of apps: tokens of its app and of its website belong to the same users.
        let audiences = [appID, servicesID].compactMap { $0.map { JSON.string($0.rawValue) } }
        return .object(
            members.compactMap { name, value in value.map { .init(name, .string($0)) } }
                + (audiences.count > 1 ? [.init("audiences", .array(audiences))] : []))
    }

    /// The keys of an SQLite vault are next to it unless set.
    private var vault: JSON? {
        vaultURL.map { url in
            let keyFile: [JSON.Member] =
                url.hasPrefix("sqlite:") ? [] : [.init("key_file", "vault.key")]
            return .object([.init("url", .string(url))] + keyFile)
        }
    }
}
