internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The settings of a new configuration.
struct InitialSettings: Sendable {
    let teamID: TeamID
    let keyID: KeyID
    /// The value of `private_key`.
    let privateKey: JSON
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
    /// Whether siwa-server is to use it: with its listeners, and strict.
    var isForServer = false

    /// The first one is the default.
    var profileNames: [String] { profiles.map(\.name) }

    var json: JSON {
        let members: [JSON.Member] = [
            .init("default_profile", .string(profiles[0].name)),
            .init("profiles", .object(profiles)),
        ]
        return .object(
            (isForServer ? [.init("strict", true)] : []) + members
                + (vault.map { [.init("vault", $0)] } ?? [])
                + (isForServer ? [.init("server", Self.server)] : []))
    }

    /// The listeners of docs/server.md: nginx is in front of the first one.
    private static let server: JSON = [
        "notifications": ["listen": "127.0.0.1:8765", "behind_proxy": true],
        "api": ["listen": "unix:/run/siwa/api.sock"],
        "metrics": ["listen": "127.0.0.1:9765"],
    ]

    private var profiles: [JSON.Member] {
        let clients = [("app", appID, nil), ("web", servicesID, redirectURI)]
        return clients.compactMap { name, clientID, redirectURI in
            clientID.map { JSON.Member(name, profile($0, redirectURI)) }
        }
    }

    private func profile(_ clientID: ClientID, _ redirectURI: String?) -> JSON {
        let members: [(String, JSON?)] = [
            ("team_id", .string(teamID.rawValue)), ("client_id", .string(clientID.rawValue)),
            ("key_id", .string(keyID.rawValue)), ("private_key", privateKey),
            ("redirect_uri", redirectURI.map { .string($0) }),
            ("base_url", baseURL.map { .string($0) }), ("ca_file", caFile.map { .string($0) }),
        ]
        // A group of apps: tokens of its app and of its website belong to the same users.
        let audiences = [appID, servicesID].compactMap { $0.map { JSON.string($0.rawValue) } }
        return .object(
            members.compactMap { name, value in value.map { .init(name, $0) } }
                + (audiences.count > 1 ? [.init("audiences", .array(audiences))] : []))
    }

    private var keyFile: String { isForServer ? "\(ServiceFiles.state)/vault.key" : "vault.key" }

    /// The keys of an SQLite vault are next to it unless set.
    private var vault: JSON? {
        vaultURL.map { url in
            let keyFile: [JSON.Member] =
                url.hasPrefix("sqlite:") ? [] : [.init("key_file", .string(keyFile))]
            return .object([.init("url", .string(url))] + keyFile)
        }
    }
}
