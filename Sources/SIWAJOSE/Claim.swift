internal import SIWACrypto

/// A claim that siwa examines, or writes in a uniform spelling.
package enum Claim: Int, CaseIterable, Sendable {
    case iss, aud, sub, exp, iat, nbf, jti, nonce, events, email
    case authTime, emailVerified, isPrivateEmail, nonceSupported, realUserStatus, transferSub
    case cHash, atHash
    // Members that ``JSON/normalizedClaims`` adds.
    case expRFC3339, iatRFC3339, nbfRFC3339, authTimeRFC3339, realUserStatusName

    /// The name in a token.
    package var name: StaticString {
        switch self {
        case .iss: "iss"
        case .aud: "aud"
        case .sub: "sub"
        case .exp: "exp"
        case .iat: "iat"
        case .nbf: "nbf"
        case .jti: "jti"
        case .nonce: "nonce"
        case .events: "events"
        case .email: "email"
        case .authTime: "auth_time"
        case .emailVerified: "email_verified"
        case .isPrivateEmail: "is_private_email"
        case .nonceSupported: "nonce_supported"
        case .realUserStatus: "real_user_status"
        case .transferSub: "transfer_sub"
        case .cHash: "c_hash"
        case .atHash: "at_hash"
        case .expRFC3339: "exp_rfc3339"
        case .iatRFC3339: "iat_rfc3339"
        case .nbfRFC3339: "nbf_rfc3339"
        case .authTimeRFC3339: "auth_time_rfc3339"
        case .realUserStatusName: "real_user_status_name"
        }
    }

    /// Whether ``JSON/normalizedClaims`` writes the claim as a boolean.
    var isFlag: Bool { self == .emailVerified || self == .isPrivateEmail }

    /// The member that ``JSON/normalizedClaims`` adds after the claim.
    var addition: Claim? {
        switch self {
        case .exp: .expRFC3339
        case .iat: .iatRFC3339
        case .nbf: .nbfRFC3339
        case .authTime: .authTimeRFC3339
        case .realUserStatus: .realUserStatusName
        default: nil
        }
    }

    static let additions = allCases.compactMap(\.addition)

    /// The claim with this name; nil for other names.
    init?(_ name: Span<UInt8>) {
        guard let claim = Self.byMark[Int(JSONText.mark(of: name))], name.isExactly(claim.name)
        else { return nil }
        self = claim
    }

    /// The claim whose name has a mark.
    static let byMark: [Claim?] = {
        precondition(allCases.count <= TokenClaims.capacity, "TokenClaims needs more places")
        var claims = [Claim?](repeating: nil, count: JSONText.markCount)
        for claim in allCases {
            let mark = claim.name.withSpan { Int(JSONText.mark(of: $0)) }
            precondition(
                claims[mark] == nil, "two claims have one mark: JSONText.mark needs other factors")
            claims[mark] = claim
        }
        return claims
    }()
}

/// The claims of a token, as received. Those that siwa knows are looked up once.
package final class TokenClaims: Sendable {
    /// The payload of the token, an object.
    let text: JSONText
    /// For each ``Claim``, the index of its value; 0 if it is absent.
    private let places: [32 of Int]
    static let capacity = 32

    init(_ text: JSONText) {
        var places = [32 of Int](repeating: 0)
        text.forEachMember { name, value in
            if let claim = text.claim(at: name) { places[claim.rawValue] = value }
        }
        (self.text, self.places) = (text, places)
    }

    /// The claims as a value.
    package var value: JSON { text.value }

    /// All claims as they were received: an object that was read strictly.
    package var received: String { String(decoding: text.bytes, as: UTF8.self) }

    /// The value of a claim that is not a ``Claim``; nil if it is absent.
    package subscript(name: String) -> JSON? { text[name] }

    /// The value of a claim; nil if it is absent.
    package subscript(claim: Claim) -> JSON? { place(of: claim).map { text.value(at: $0) } }

    /// The value of a claim or, of a claim that is the text of a JSON value, that value; nil if it is
    /// absent.
    package func unwrapped(_ claim: Claim) throws(JSONError) -> JSONText? {
        guard let place = place(of: claim) else { return nil }
        return try JSONText(
            text.isString(at: place) ? text.bytes(at: place) : text.source(at: place))
    }

    // A batch only examines most claims, and creates no value for that.

    /// Whether there is such a claim.
    package func has(_ claim: Claim) -> Bool { place(of: claim) != nil }

    /// Whether a claim is this string.
    package func has(_ claim: Claim, exactly text: String) -> Bool {
        place(of: claim).map { self.text.isString(at: $0, exactly: text) } ?? false
    }

    /// Whether a claim is a string.
    package func hasString(_ claim: Claim) -> Bool {
        place(of: claim).map { text.isString(at: $0) } ?? false
    }

    /// Whether a claim is a string that is not empty.
    package func hasFilledString(_ claim: Claim) -> Bool {
        place(of: claim).map { text.isFilledString(at: $0) } ?? false
    }

    /// A claim as a moment, as ``JSON/moment``.
    package func moment(_ claim: Claim) -> NumericDate? {
        place(of: claim).flatMap { text.integer(at: $0) }.map { NumericDate($0) }
    }

    /// A claim as a flag, as ``JSON/flag``.
    package func flag(_ claim: Claim) -> Bool? { place(of: claim).flatMap { text.flag(at: $0) } }

    /// The index of the value of a claim; nil if it is absent.
    func place(of claim: Claim) -> Int? {
        let place = places[claim.rawValue]
        return place == 0 ? nil : place
    }

    /// The claim whose value has an index; nil for claims that siwa does not know.
    func claim(at value: Int) -> Claim? {
        guard let claim = Claim.byMark[Int(text.nodes[value - 1].mark)] else { return nil }
        return places[claim.rawValue] == value ? claim : nil
    }
}

extension TokenClaims: Hashable {
    /// Whether two texts have the same value.
    package static func == (one: TokenClaims, other: TokenClaims) -> Bool {
        one.text == other.text
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
