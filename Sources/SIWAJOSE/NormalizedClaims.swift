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
        let last = self["email_verified"] == nil ? "email" : "email_verified"
        let lacksFlag = self["is_private_email"] == nil && self["email"]?.string?.isEmpty == false
        for member in members {
            member.normalize(into: &normalized)
            if lacksFlag, member.name == last {
                normalized.append(Member("is_private_email", false))
            }
        }
        return .object(normalized)
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

extension JSON.Member {
    fileprivate func normalize(into members: inout [JSON.Member]) {
        guard let claim = Claim(name.utf8.span) else { return members.append(self) }
        guard !Claim.additions.contains(claim) else { return }
        let flag = claim.isFlag ? value.flag.map(JSON.boolean) : nil
        members.append(JSON.Member(name, flag ?? value))
        guard let addition = claim.addition.flatMap({ AddedMember($0, value.integer) })
        else { return }
        members.append(JSON.Member("\(addition.claim.name)", .string(addition.text)))
    }
}

extension TokenClaims {
    /// Whether ``appendNormalized(to:)`` can write them.
    var canBeEdited: Bool {
        text.isPlain && Claim.additions.allSatisfy { place(of: $0) == nil }
    }

    /// The most bytes that ``appendNormalized(to:)`` appends.
    var mostNormalizedBytes: Int { text.bytes.count + Self.mostAddedBytes }

    /// Enough for the additions of all claims.
    private static let mostAddedBytes = 512

    /// Appends ``JSON/normalizedClaims``: the text as received, with a few edits.
    func appendNormalized(to output: inout OutputSpan<UInt8>) {
        let (bytes, claimBeforeFlag) = (text.bytes, claimBeforeMissingFlag)
        var copied = text.nodes[0].range.lowerBound
        text.forEachMember { _, value in
            guard let claim = claim(at: value) else { return }
            let range = text.nodes[value].range
            if claim.isFlag, let flag = text.flag(at: value) {
                output.append(contentsOf: bytes.span.extracting(copied..<range.lowerBound))
                output.append(flag ? "true" : "false")
                copied = range.upperBound
            }
            let addition = claim.addition.flatMap { AddedMember($0, text.integer(at: value)) }
            guard addition != nil || claim == claimBeforeFlag else { return }
            output.append(contentsOf: bytes.span.extracting(copied..<range.upperBound))
            copied = range.upperBound
            addition?.append(to: &output)
            if claim == claimBeforeFlag { output.append(",\"is_private_email\":false") }
        }
        output.append(
            contentsOf: bytes.span.extracting(copied..<text.nodes[0].range.upperBound))
    }

    /// The claim after which `is_private_email` is added; nil if it is not added.
    private var claimBeforeMissingFlag: Claim? {
        guard place(of: .isPrivateEmail) == nil, hasFilledString(.email) else {
            return nil
        }
        return place(of: .emailVerified) == nil ? .email : .emailVerified
    }
}

/// A member that normalization adds after another.
private struct AddedMember {
    let claim: Claim
    private let value: Value

    private enum Value {
        case moment(NumericDate)
        case name(String)
    }

    /// Nil if nothing is added after this number.
    init?(_ claim: Claim, _ number: Int?) {
        guard let number else { return nil }
        self.claim = claim
        if claim == .realUserStatusName {
            guard let name = RealUserStatus(rawValue: number).name else { return nil }
            value = .name(name)
        } else {
            let moment = NumericDate(number)
            guard moment.isWritable else { return nil }
            value = .moment(moment)
        }
    }

    var text: String {
        switch value {
        case .moment(let moment): moment.rfc3339
        case .name(let name): name
        }
    }

    func append(to output: inout OutputSpan<UInt8>) {
        output.append(UInt8(ascii: ","))
        output.append(UInt8(ascii: "\""))
        output.append(claim.name)
        output.append("\":\"")
        switch value {
        case .moment(let moment): moment.appendRFC3339(to: &output)
        case .name(let name): output.append(contentsOf: name.utf8.span)
        }
        output.append(UInt8(ascii: "\""))
    }
}
