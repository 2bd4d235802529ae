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
        var normalized: [Member] = []
        normalized.reserveCapacity(members.count + 6)
        forEachNormalizedClaim { name, claim in
            switch claim {
            case .value(let value): normalized.append(Member(name, value))
            case .moment(let moment): normalized.append(Member(name, .string(moment.rfc3339)))
            }
        }
        return .object(normalized)
    }

    /// Calls `body` with the name and the value of each member of ``normalizedClaims``.
    func forEachNormalizedClaim(_ body: (String, NormalizedClaim) -> Void) {
        guard case .object(let members) = self else { return }
        let last = self["email_verified"] == nil ? "email" : "email_verified"
        let lacksFlag = self["is_private_email"] == nil && self["email"]?.string?.isEmpty == false
        for index in members.indices {
            members[index].normalize(body)
            if lacksFlag, members[index].name == last { body("is_private_email", .value(false)) }
        }
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

/// The value of a claim in its one spelling.
enum NormalizedClaim {
    case value(JSON)
    /// A text: how RFC 3339 writes it, which has four digits for the year.
    case moment(NumericDate)
}

extension JSON.Member {
    fileprivate func normalize(_ body: (String, NormalizedClaim) -> Void) {
        // The length first: it tells nearly all names apart, and of a million tokens each has a
        // dozen.
        switch (name.utf8.count, name) {
        case (14, "email_verified"), (16, "is_private_email"):
            body(name, .value(value.flag.map(JSON.boolean) ?? value))
        case (3, "exp"): addMoment("exp_rfc3339", body)
        case (3, "iat"): addMoment("iat_rfc3339", body)
        case (3, "nbf"): addMoment("nbf_rfc3339", body)
        case (9, "auth_time"): addMoment("auth_time_rfc3339", body)
        case (16, "real_user_status"):
            body(name, .value(value))
            if let status = value.integer.flatMap({ RealUserStatus(rawValue: $0).name }) {
                body("real_user_status_name", .value(.string(status)))
            }
        // Would be mistaken for what is added here.
        case (11, "exp_rfc3339"), (11, "iat_rfc3339"), (11, "nbf_rfc3339"),
            (17, "auth_time_rfc3339"), (21, "real_user_status_name"):
            break
        default: body(name, .value(value))
        }
    }

    private func addMoment(
        _ addedName: String, _ body: (String, NormalizedClaim) -> Void
    ) {
        body(name, .value(value))
        if let moment = value.moment, moment.hasFourDigitYear {
            body(addedName, .moment(moment))
        }
    }
}

extension NumericDate {
    /// RFC 3339 knows no others.
    fileprivate var hasFourDigitYear: Bool { (-62_167_219_200..<253_402_300_800).contains(seconds) }
}
