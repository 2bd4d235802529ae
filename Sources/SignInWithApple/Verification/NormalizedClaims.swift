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
        for member in members where !Self.addedNames.contains(member.name) {
            normalized += member.normalized
            if lacksFlag, member.name == last {
                normalized.append(Member("is_private_email", false))
            }
        }
        return .object(normalized)
    }

    private static let addedNames =
        ["exp", "iat", "nbf", "auth_time"].map { $0 + "_rfc3339" } + ["real_user_status_name"]

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
    fileprivate var normalized: [JSON.Member] {
        switch name {
        case "email_verified", "is_private_email":
            [Self(name, value.flag.map(JSON.boolean) ?? value)]
        case "exp", "iat", "nbf", "auth_time":
            [self]
                + added("rfc3339", value.moment.flatMap { $0.hasFourDigitYear ? $0.rfc3339 : nil })
        case "real_user_status":
            [self] + added("name", value.integer.flatMap { RealUserStatus(rawValue: $0).name })
        default: [self]
        }
    }

    private func added(_ suffix: String, _ text: String?) -> [Self] {
        text.map { [Self("\(name)_\(suffix)", .string($0))] } ?? []
    }
}

extension NumericDate {
    /// RFC 3339 knows no others.
    fileprivate var hasFourDigitYear: Bool { (-62_167_219_200..<253_402_300_800).contains(seconds) }
}
