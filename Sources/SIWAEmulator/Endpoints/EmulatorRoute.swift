internal import SIWAJOSE
internal import SIWALifecycle

/// Apple's paths, as far as they are emulated.
enum EmulatorRoute: String, CaseIterable {
    case token = "/auth/token"
    case revoke = "/auth/revoke"
    case migration = "/auth/usermigrationinfo"
    case keys = "/auth/keys"
    case authorize = "/auth/authorize"
    /// The target of the form on that page; Apple's is different.
    case consent = "/auth/authorize/consent"
    case discovery = "/.well-known/openid-configuration"

    /// Whether it needs no parameters or credentials.
    var isPublic: Bool { self == .keys || self == .discovery }

    /// The only method of the path, besides HEAD on public paths.
    var method: String {
        switch self {
        case .consent, .token, .revoke, .migration: "POST"
        case .authorize, .keys, .discovery: "GET"
        }
    }
}

/// Control requests name a route by its path.
extension EmulatorRoute: JSONConvertible {}
