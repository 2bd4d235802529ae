public import SignInWithApple

/// A person who signs in: never a real one.
public struct EmulatedUser: Sendable, Hashable {
    /// What `POST /emulator/codes` calls the user.
    public let name: String
    /// `sub` of the user's identity tokens.
    public let userID: UserID
    /// The address apps get to see; nil when the user never granted it.
    public let email: String?
    /// False for some managed accounts only.
    public let isEmailVerified: Bool
    /// Whether the address is one of Apple's relays.
    public let isPrivateEmail: Bool
    /// 0 unsupported, 1 unknown, 2 likely real; nil leaves the claim out.
    public let realUserStatus: Int?

    /// Invents a user.
    public init(
        name: String, userID: UserID, email: String? = nil, isEmailVerified: Bool = true,
        isPrivateEmail: Bool = false, realUserStatus: Int? = nil
    ) {
        self.name = name
        self.userID = userID
        self.email = email
        self.isEmailVerified = isEmailVerified
        self.isPrivateEmail = isPrivateEmail
        self.realUserStatus = realUserStatus
    }

    /// A user identifier of the recorded shape: `NNNNNN.<32 hex>.NNNN`, the end a time of day.
    public static func freshUserID() -> UserID {
        let digits = Array("0123456789")
        let parts = [
            "00" + Fresh.text(4, of: digits), Fresh.bytes(16).hexadecimal,
            "1" + Fresh.text(1, of: digits) + Fresh.text(1, of: Array("012345"))
                + Fresh.text(1, of: digits),
        ]
        return UserID(unchecked: parts.joined(separator: "."))
    }
}

extension EmulatedUser {
    init(_ member: JSON.Member, at place: String) throws(ShapeError) {
        let reader = try MemberReader(
            member.value, at: place,
            knowing: ["sub", "email", "email_verified", "is_private_email", "real_user_status"])
        self.init(
            name: member.name, userID: try reader.required("sub"),
            email: try reader.optional("email"),
            isEmailVerified: try reader.optional("email_verified") ?? true,
            isPrivateEmail: try reader.optional("is_private_email") ?? false,
            realUserStatus: try reader.optional("real_user_status"))
    }

    var json: JSON {
        var members = [JSON.Member("sub", userID.json)]
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
