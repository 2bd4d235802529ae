internal import SIWACrypto

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
        let flagless = nameBeforeMissingFlag
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
            let spelling = ClaimSpelling(of: self, at: name)
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

    /// The member behind which `is_private_email` is added; nil when it is not.
    private var nameBeforeMissingFlag: Int? {
        guard let email = self["email"], email.isFilledString, self["is_private_email"] == nil
        else { return nil }
        return (self["email_verified"] ?? email).name
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
        let spelling = ClaimSpelling(of: name)
        switch spelling {
        case .leftOut: break
        case .flag: body(name, .value(value.flag.map(JSON.boolean) ?? value))
        default:
            body(name, .value(value))
            if let (addedName, claim) = spelling.addition(value.integer) { body(addedName, claim) }
        }
    }
}

/// How a claim is spelt in ``JSON/normalizedClaims``, by its name.
private enum ClaimSpelling {
    case asItStands
    case flag
    /// The name under which the moment is added.
    case moment(String)
    case realUserStatus
    /// Would be mistaken for what is added.
    case leftOut

    init(of name: String) {
        self = Self.all.first { name.isExactly($0.name) }?.spelling ?? .asItStands
    }

    /// - Parameter name: the node of a member's name, in a text that is plain.
    init(of text: JSONText, at name: Int) {
        // The length first: it tells nearly all names apart, and of a million tokens each has a
        // dozen.
        let count = text.nodes[name].content.count
        let isCandidate = count < 64 && Self.lengths & 1 << UInt64(count) != 0
        self = .asItStands
        guard isCandidate else { return }
        // Looked at where they are: copying one takes longer than comparing it.
        let (all, bytes) = (Self.all, text.bytes)
        let (known, span) = (all.span, bytes.span)
        let found = span.extracting(text.nodes[name].content)
        for index in known.indices where known[index].bytes.span.isExactly(found) {
            self = known[index].spelling
        }
    }

    /// What follows a claim that is this whole number.
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

    private struct Named {
        let name: String
        let bytes: [UInt8]
        let spelling: ClaimSpelling

        init(_ name: String, _ spelling: ClaimSpelling) {
            (self.name, bytes, self.spelling) = (name, Array(name.utf8), spelling)
        }
    }

    private static let all = [
        Named("email_verified", .flag), Named("is_private_email", .flag),
        Named("exp", .moment("exp_rfc3339")), Named("iat", .moment("iat_rfc3339")),
        Named("nbf", .moment("nbf_rfc3339")),
        Named("auth_time", .moment("auth_time_rfc3339")),
        Named("real_user_status", .realUserStatus),
        Named("exp_rfc3339", .leftOut), Named("iat_rfc3339", .leftOut),
        Named("nbf_rfc3339", .leftOut), Named("auth_time_rfc3339", .leftOut),
        Named("real_user_status_name", .leftOut),
    ]

    /// A bit for each length that one of ``all`` has.
    private static let lengths = all.reduce(UInt64(0)) { $0 | 1 << UInt64($1.bytes.count) }
}
