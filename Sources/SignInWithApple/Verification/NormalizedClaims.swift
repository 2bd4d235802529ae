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
        switch NormalizationRule.action(on: name) {
        case nil: body(name, .value(value))
        case .readFlag: body(name, .value(value.flag.map(JSON.boolean) ?? value))
        case .addMoment(let addedName):
            body(name, .value(value))
            if let moment = value.moment, moment.hasFourDigitYear {
                body(addedName, .moment(moment))
            }
        case .addStatusName:
            body(name, .value(value))
            if let status = value.integer.flatMap({ RealUserStatus(rawValue: $0).name }) {
                body("real_user_status_name", .value(.string(status)))
            }
        case .leaveOut: break
        }
    }
}

/// What is done with a claim of some name; all others stay as they are.
private struct NormalizationRule {
    let name: String
    /// Tells most names apart.
    let length: Int
    let action: Action

    init(_ name: String, _ action: Action) {
        (self.name, self.length, self.action) = (name, name.utf8.count, action)
    }

    enum Action {
        case readFlag
        case addMoment(called: String)
        case addStatusName
        /// The name would be mistaken for one that is added.
        case leaveOut
    }

    static func action(on name: String) -> Action? {
        let (rules, length) = (all.span, name.utf8.count)
        for index in rules.indices where rules[index].length == length {
            if rules[index].name.isExactly(name) { return rules[index].action }
        }
        return nil
    }

    private static let all: [Self] =
        ["exp", "iat", "nbf", "auth_time"].flatMap { name in
            let added = name + "_rfc3339"
            return [
                Self(name, .addMoment(called: added)), Self(added, .leaveOut),
            ]
        } + [
            Self("email_verified", .readFlag), Self("is_private_email", .readFlag),
            Self("real_user_status", .addStatusName), Self("real_user_status_name", .leaveOut),
        ]
}

extension NumericDate {
    /// RFC 3339 knows no others.
    fileprivate var hasFourDigitYear: Bool { (-62_167_219_200..<253_402_300_800).contains(seconds) }
}
