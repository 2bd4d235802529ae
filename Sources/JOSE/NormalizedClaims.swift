extension JSON {
    /// A token's claims in one spelling, though Apple uses several.
    ///
    /// - `email_verified` and `is_private_email` are booleans, from `"true"` and `"false"` as well
    ///   (Apple: `id_token`). Apple leaves `is_private_email` out where the address is the
    ///   user's own: beside an `email`, its absence becomes `false`.
    /// - Each of `exp`, `iat`, `nbf` and `auth_time` that is a whole number is followed by the same
    ///   time in RFC 3339: `exp_rfc3339` and so on.
    /// - A known `real_user_status` is followed by `real_user_status_name`.
    ///
    /// All other claims, and values of another type than these should have, stay as they are.
    /// The added names are this function's own: a token's claims of such a name are left out.
    package var normalizedClaims: JSON {
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
    package var flag: Bool? {
        switch self {
        case .boolean(let value): value
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// The moment of a NumericDate claim; whole seconds only, as Apple writes them.
    package var moment: NumericDate? { integer.map { NumericDate($0) } }
}

extension JSONText {
    /// Calls `body` with the parts of ``JSON/normalizedClaims`` in their order; this must be an
    /// object that ``isPlain``. Most claims are part of a run that is copied unchanged.
    func forEachNormalizedPart(_ body: (NormalizedPart) -> Void) {
        let last = self["email_verified"] == nil ? "email" : "email_verified"
        let lacksFlag = self["is_private_email"] == nil && self["email"]?.isFilledString == true
        let lastName = last.utf8.span
        var run = 0..<0
        func endRun() {
            if !run.isEmpty { body(.text(run)) }
            run = 0..<0
        }
        forEachMember { name, value in
            if needsNormalizing(name) {
                endRun()
                JSON.Member(string(at: name), self.value(at: value)).normalize {
                    body(.claim($0, $1))
                }
            } else {
                let start = run.isEmpty ? nodes[name].range.lowerBound : run.lowerBound
                run = start..<nodes[value].range.upperBound
            }
            if lacksFlag, isText(at: name, lastName) {
                endRun()
                body(.claim("is_private_email", .value(false)))
            }
        }
        endRun()
    }

    private func needsNormalizing(_ name: Int) -> Bool {
        // The length first: it tells many names apart.
        guard [3, 9, 11, 14, 16, 17, 21].contains(nodes[name].content.count) else { return false }
        return ClaimSpelling(of: string(at: name)) != .asItStands
    }
}

/// Some of a token's claims in their one spelling.
enum NormalizedPart {
    /// A part of the text that is copied unchanged: whole members, and commas between them.
    case text(Range<Int>)
    case claim(String, NormalizedClaim)
}

/// The value of a claim in its one spelling.
enum NormalizedClaim {
    case value(JSON)
    /// A text: how RFC 3339 writes it, which has four digits for the year.
    case moment(NumericDate)
}

extension JSON.Member {
    fileprivate func normalize(_ body: (String, NormalizedClaim) -> Void) {
        switch ClaimSpelling(of: name) {
        case .asItStands: body(name, .value(value))
        case .flag: body(name, .value(value.flag.map(JSON.boolean) ?? value))
        case .moment(let addedName):
            body(name, .value(value))
            if let moment = value.moment, moment.hasFourDigitYear {
                body(addedName, .moment(moment))
            }
        case .realUserStatus:
            body(name, .value(value))
            if let status = value.integer.flatMap({ RealUserStatus(rawValue: $0).name }) {
                body("real_user_status_name", .value(.string(status)))
            }
        case .leftOut: break
        }
    }
}

/// How a claim is spelt in ``JSON/normalizedClaims``, by its name.
private enum ClaimSpelling: Equatable {
    case asItStands
    case flag
    /// The name under which the moment is added.
    case moment(String)
    case realUserStatus
    /// Would be mistaken for what is added.
    case leftOut

    init(of name: String) {
        // The length first: it tells nearly all names apart, and of a million tokens each has a
        // dozen.
        switch (name.utf8.count, name) {
        case (14, "email_verified"), (16, "is_private_email"): self = .flag
        case (3, "exp"): self = .moment("exp_rfc3339")
        case (3, "iat"): self = .moment("iat_rfc3339")
        case (3, "nbf"): self = .moment("nbf_rfc3339")
        case (9, "auth_time"): self = .moment("auth_time_rfc3339")
        case (16, "real_user_status"): self = .realUserStatus
        case (11, "exp_rfc3339"), (11, "iat_rfc3339"), (11, "nbf_rfc3339"),
            (17, "auth_time_rfc3339"), (21, "real_user_status_name"):
            self = .leftOut
        default: self = .asItStands
        }
    }
}

extension NumericDate {
    /// RFC 3339 knows no others.
    fileprivate var hasFourDigitYear: Bool { (-62_167_219_200..<253_402_300_800).contains(seconds) }
}
