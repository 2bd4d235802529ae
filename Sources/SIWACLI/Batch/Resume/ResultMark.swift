internal import JOSE

/// The member by which a result tells which command wrote it.
enum ResultMark: String, Sendable {
    case accessToken = "access_token"
    case revoked
    case transferID = "transfer_id"
    case userID = "user_id"
    case valid

    /// The first there is: the halves of a migration have each other's after their own. Nil in
    /// a result that is an error.
    init?(in result: JSON) {
        guard let mark = result.members?.lazy.compactMap({ Self(rawValue: $0.name) }).first else {
            return nil
        }
        self = mark
    }

    /// The member that says which item a result is of.
    var idName: String {
        switch self {
        case .accessToken, .revoked, .valid: "id"
        case .transferID, .userID: rawValue
        }
    }
}
