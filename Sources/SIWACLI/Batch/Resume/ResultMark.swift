internal import SIWAApplication
internal import SIWAJOSE

/// The member that identifies the command that wrote a result.
enum ResultMark: String, Sendable {
    case accessToken = "access_token"
    case revoked
    case transferID = "transfer_id"
    case userID = "user_id"
    case valid

    /// The first existing member: the results of a migration have both, with their own first. Nil
    /// for a result that is an error.
    init?(in result: JSON) {
        guard let mark = result.members?.lazy.compactMap({ Self(rawValue: $0.name) }).first else {
            return nil
        }
        self = mark
    }

    /// The member that identifies the item of a result.
    var idName: String {
        switch self {
        case .accessToken, .revoked, .valid: "id"
        case .transferID, .userID: rawValue
        }
    }
}
