extension JSON {
    /// A token's claims in one spelling, whichever of Apple's they came in.
    ///
    /// - `email_verified` and `is_private_email` are booleans, from `"true"` and `"false"` as well
    ///   (Apple: `id_token`). Apple leaves `is_private_email` out where the address is the
    ///   user's own: beside an `email`, its absence becomes `false`.
    /// - Behind each of `exp`, `iat`, `nbf` and `auth_time` that is a whole number stands the same
    ///   moment as RFC 3339 writes it: `exp_rfc3339` and so on.
    /// - Behind a `real_user_status` that is known stands `real_user_status_name`.
    ///
    /// All other claims, and values of another type than these should have, stay as they are.
    /// The added names are this function's own: a token's claims of such a name are left out.
    public var normalizedClaims: JSON {
        guard let members else { return self }
        let last = self["email_verified"] == nil ? "email" : "email_verified"
        let lacksFlag = self["is_private_email"] == nil && self["email"]?.string?.isEmpty == false
        var normalized: [Member] = []
        normalized.reserveCapacity(members.count + 6)
        for member in members where !member.hasAddedName {
            member.normalize(into: &normalized)
            if lacksFlag, member.name == last {
                normalized.append(Member("is_private_email", false))
            }
        }
        return .object(normalized)
    }

    /// The value of a flag: Apple wrote them as strings until February 2024.
    var flag: Bool? {
        switch self {
        case .boolean(let value): value
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// The moment of a NumericDate claim; whole seconds only, as Apple writes them.
    var moment: NumericDate? { integer.map { NumericDate($0) } }
}

extension JSON.Member {
    /// Whether it would be mistaken for a member that is added here.
    fileprivate var hasAddedName: Bool {
        switch name {
        case "exp_rfc3339", "iat_rfc3339", "nbf_rfc3339", "auth_time_rfc3339",
            "real_user_status_name":
            true
        default: false
        }
    }

    fileprivate func normalize(into members: inout [Self]) {
        switch name {
        case "email_verified", "is_private_email":
            members.append(Self(name, value.flag.map(JSON.boolean) ?? value))
        case "exp", "iat", "nbf", "auth_time":
            members.append(self)
            if let moment = value.moment, moment.hasFourDigitYear {
                members.append(Self(name + "_rfc3339", .string(moment.rfc3339)))
            }
        case "real_user_status":
            members.append(self)
            if let status = value.integer.flatMap({ RealUserStatus(rawValue: $0).name }) {
                members.append(Self(name + "_name", .string(status)))
            }
        default: members.append(self)
        }
    }
}

extension NumericDate {
    /// RFC 3339 knows no others.
    fileprivate var hasFourDigitYear: Bool { (-62_167_219_200..<253_402_300_800).contains(seconds) }
}
