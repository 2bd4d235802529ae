internal import SIWAJOSE
package import SIWALifecycle

/// An invented person who signs in.
package struct EmulatedUser: Sendable, Hashable {
    /// The name of the user in `POST /emulator/codes`.
    package let name: String
    /// `sub` of the user's identity tokens.
    package let userID: UserID
    /// The first name, which a website may ask for once.
    package let firstName: String?
    /// The last name, which a website may ask for once.
    package let lastName: String?
    /// The address; nil if the account has no address, like some managed accounts.
    package internal(set) var email: String?
    /// False for some managed accounts only.
    package internal(set) var isEmailVerified: Bool
    /// Whether the address is one of Apple's relays and the only one that is ever shown.
    package internal(set) var isPrivateEmail: Bool
    /// 0 unsupported, 1 unknown, 2 likely real; nil leaves the claim out.
    package let realUserStatus: Int?

    /// Creates a user.
    package init(
        name: String, userID: UserID, firstName: String? = nil, lastName: String? = nil,
        email: String? = nil, isEmailVerified: Bool = true, isPrivateEmail: Bool = false,
        realUserStatus: Int? = nil
    ) {
        self.name = name
        self.userID = userID
        self.firstName = firstName
        self.lastName = lastName
        self.email = email
        self.isEmailVerified = isEmailVerified
        self.isPrivateEmail = isPrivateEmail
        self.realUserStatus = realUserStatus
    }

    /// First and last name; nil if the user has neither.
    var displayName: String? {
        let names = [firstName, lastName].compactMap { $0 }
        return names.isEmpty ? nil : names.joined(separator: " ")
    }

    /// A user identifier of the recorded shape: `NNNNNN.<32 hex>.HHMM`.
    package static func freshUserID() -> UserID {
        var random = RandomStream.system
        return newUserID(using: &random)
    }

    static func newUserID(using random: inout RandomStream) -> UserID {
        UserID(unchecked: IdentifierText.new(using: &random))
    }
}

extension EmulatedUser {
    init(_ member: JSON.Member, at place: String) throws(ShapeError) {
        let reader = try JSONObjectReader(
            member.value, at: place,
            knowing: [
                "sub", "first_name", "last_name", "email", "email_verified", "is_private_email",
                "real_user_status",
            ])
        self.init(
            name: member.name, userID: try reader.required("sub"),
            firstName: try reader.optional("first_name"),
            lastName: try reader.optional("last_name"), email: try reader.optional("email"),
            isEmailVerified: try reader.optional("email_verified") ?? true,
            isPrivateEmail: try reader.optional("is_private_email") ?? false,
            realUserStatus: try reader.optional("real_user_status"))
    }

    var json: JSON {
        var members = [JSON.Member("sub", userID.json)]
        if let firstName { members.append(JSON.Member("first_name", .string(firstName))) }
        if let lastName { members.append(JSON.Member("last_name", .string(lastName))) }
        if let email {
            members.append(JSON.Member("email", .string(email)))
            members.append(JSON.Member("email_verified", .boolean(isEmailVerified)))
            members.append(JSON.Member("is_private_email", .boolean(isPrivateEmail)))
        }
        if let realUserStatus {
            members.append(JSON.Member("real_user_status", .integer(realUserStatus)))
        }
        return .object(members)
    }
}
