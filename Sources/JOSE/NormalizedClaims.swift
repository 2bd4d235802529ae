internal import SIWACrypto

extension JSON {
    /// A token's claims in a uniform spelling; Apple uses several.
    ///
    /// - `email_verified` and `is_private_email` are booleans, from `"true"` and `"false"` as well
    ///   (Apple: `id_token`). Apple leaves `is_private_email` out where the address is the
    ///   user's own: beside an `email`, its absence becomes `false`.
    /// - Each of `exp`, `iat`, `nbf` and `auth_time` that is a whole number is followed by the same
    ///   time in RFC 3339: `exp_rfc3339` and so on.
    /// - A known `real_user_status` is followed by `real_user_status_name`.
    ///
    /// All other claims, and values of an unexpected type, are unchanged. A token's own claims with
    /// one of the added names are left out.
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

    /// The value of a flag. Apple wrote flags as strings until February 2024.
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
    /// object that ``isPlain``. Most claims are copied unchanged, in runs.
    func forEachNormalizedPart(_ body: (NormalizedPart) -> Void) {
        let (flagless, text) = (nameBeforeMissingFlag, bytes)
        let span = text.span
        var run = 0..<0
        func endRun() {
            if !run.isEmpty { body(.text(run)) }
            run = 0..<0
        }
        func extendRun(_ name: Int, _ value: Int) {
            let start = run.isEmpty ? nodes[name].range.lowerBound : run.lowerBound
            run = start..<nodes[value].range.upperBound
        }
        forEachMember { name, value in
            // A plain text has no escapes.
            let spelling = ClaimSpelling(of: span.extracting(nodes[name].content))
            if case .leftOut = spelling {
                endRun()
            } else if case .flag = spelling, nodes[value].kind == .string,
                let flag = flag(at: value)
            {
                endRun()
                body(.claim(string(at: name), .value(.boolean(flag))))
            } else {
                extendRun(name, value)
                if let (addedName, claim) = spelling.addition(integer(at: value)) {
                    endRun()
                    body(.claim(addedName, claim))
                }
            }
            if name == flagless {
                endRun()
                body(.claim("is_private_email", .value(false)))
            }
        }
        endRun()
    }

    /// The member after which `is_private_email` is added; nil if it is not added.
    private var nameBeforeMissingFlag: Int? {
        guard let email = self["email"], email.isFilledString, self["is_private_email"] == nil
        else { return nil }
        return (self["email_verified"] ?? email).name
    }
}

/// A part of a token's normalized claims.
enum NormalizedPart {
    /// A part of the text that is copied unchanged: whole members, and commas between them.
    case text(Range<Int>)
    case claim(String, NormalizedClaim)
}

/// The normalized value of a claim.
enum NormalizedClaim {
    case value(JSON)
    /// A time, written as in RFC 3339, with a four-digit year.
    case moment(NumericDate)
}

extension JSON.Member {
    fileprivate func normalize(_ body: (String, NormalizedClaim) -> Void) {
        let spelling = ClaimSpelling(of: name.utf8.span)
        switch spelling {
        case .leftOut: break
        case .flag: body(name, .value(value.flag.map(JSON.boolean) ?? value))
        default:
            body(name, .value(value))
            if let (addedName, claim) = spelling.addition(value.integer) { body(addedName, claim) }
        }
    }
}

/// The rule for a claim in ``JSON/normalizedClaims``, by its name.
private enum ClaimSpelling {
    case asItStands
    case flag
    /// The name under which the moment is added.
    case moment(String)
    case realUserStatus
    /// It has the name of an added member.
    case leftOut

    init(of name: Span<UInt8>) {
        self =
            if name.isExactly("email_verified") || name.isExactly("is_private_email") {
                .flag
            } else if name.isExactly("exp") {
                .moment("exp_rfc3339")
            } else if name.isExactly("iat") {
                .moment("iat_rfc3339")
            } else if name.isExactly("nbf") {
                .moment("nbf_rfc3339")
            } else if name.isExactly("auth_time") {
                .moment("auth_time_rfc3339")
            } else if name.isExactly("real_user_status") {
                .realUserStatus
            } else if Self.isAdded(name) {
                .leftOut
            } else {
                .asItStands
            }
    }

    private static func isAdded(_ name: Span<UInt8>) -> Bool {
        name.isExactly("exp_rfc3339") || name.isExactly("iat_rfc3339")
            || name.isExactly("nbf_rfc3339") || name.isExactly("auth_time_rfc3339")
            || name.isExactly("real_user_status_name")
    }

    /// The member to add after a claim with this number.
    func addition(_ number: Int?) -> (String, NormalizedClaim)? {
        guard let number else { return nil }
        switch self {
        case .moment(let addedName):
            let moment = NumericDate(number)
            return moment.isWritable ? (addedName, .moment(moment)) : nil
        case .realUserStatus:
            return RealUserStatus(rawValue: number).name
                .map { ("real_user_status_name", .value(.string($0))) }
        default: return nil
        }
    }
}
