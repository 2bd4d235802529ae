/// A value with its origin.
package struct Setting<Value: Sendable>: Sendable {
    package let value: Value
    package let origin: Origin

    package init(value: Value, origin: Origin) { (self.value, self.origin) = (value, origin) }
}

/// The origin of a value, so that messages can name the place to fix.
package enum Origin: Hashable, Sendable, CustomStringConvertible {
    case flag(String)
    case variable(String)
    case profile(String, file: String)
    case file(String)
    /// Derived from the name of the key file.
    case keyFileName(String)
    /// Found in one of the usual folders.
    case search
    case standard

    package var description: String {
        switch self {
        case .flag(let name): "flag \(name)"
        case .variable(let name): "environment \(name)"
        case .profile(let name, let file): "profile '\(name)' in \(file)"
        case .file(let file): file
        case .keyFileName(let path): "name of \(path)"
        case .search: "found by its Key ID"
        case .standard: "default"
        }
    }
}

/// The names of a setting: in the file, on the command line, in the environment.
package struct SettingName: Hashable, Sendable {
    /// The object of the profile, or of the whole file, that contains it; nil for the profile
    /// itself.
    let group: String?
    let name: String
    /// Empty if there is no flag.
    package let flag: String
    let variable: String?

    package static let teamID = Self("team_id", "--team-id", "SIWA_TEAM_ID")
    package static let clientID = Self("client_id", "--client-id", "SIWA_CLIENT_ID")
    /// The client id of a website, for `siwa init`.
    package static let servicesID = Self("client_id", "--services-id", nil)
    package static let keyID = Self("key_id", "--key-id", "SIWA_KEY_ID")
    package static let privateKey = Self("private_key", "--key", "SIWA_PRIVATE_KEY_FILE")
    static let clientSecret = Self(
        "client_secret_file", "--client-secret", "SIWA_CLIENT_SECRET")
    package static let secretLifetime = Self(
        "secret_lifetime", "--lifetime", "SIWA_SECRET_LIFETIME")
    package static let redirectURI = Self("redirect_uri", "--redirect-uri", "SIWA_REDIRECT_URI")
    static let audiences = Self("audiences", "--audience", nil)
    package static let baseURL = Self("base_url", "--base-url", "SIWA_BASE_URL")
    package static let caFile = Self("ca_file", "--ca-file", "SIWA_CA_FILE")
    package static let timeout = Self("timeout", "--timeout", "SIWA_TIMEOUT")
    static let maxAttempts = Self("max_attempts", "--max-attempts", nil)
    package static let vaultURL = Self("url", "--vault", "SIWA_VAULT_URL", in: "vault")
    package static let vaultKeyFile = Self("key_file", "", "SIWA_VAULT_KEY_FILE", in: "vault")

    /// The name of its member in messages.
    package var member: String { group.map { "\($0).\(name)" } ?? name }

    private init(_ name: String, _ flag: String, _ variable: String?, in group: String? = nil) {
        self.name = name
        self.group = group
        self.flag = flag
        self.variable = variable
    }

    /// The places where it can be set, for messages.
    package var places: String {
        let inFile = group.map { "\"\($0)\": {\"\(name)\": …}" } ?? "\"\(name)\""
        return
            ((flag.isEmpty ? [] : [flag]) + (variable.map { [$0] } ?? []) + [
                "\(inFile) in the profile"
            ])
            .joined(separator: ", ")
    }
}
