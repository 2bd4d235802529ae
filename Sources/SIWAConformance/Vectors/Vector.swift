package import SIWAJOSE

/// One token, and what a verifier must say to it.
package struct Vector: Sendable {
    /// The ids of the checks that it belongs to; empty for a good token.
    package let flags: [String]
    package let comment: String
    package let made: BadToken.Made
    package let result: VectorResult

    package init(
        flags: [String] = [], _ comment: String, _ made: BadToken.Made, _ result: VectorResult
    ) {
        (self.flags, self.comment, self.made, self.result) = (flags, comment, made, result)
    }

    /// A row of `tests`.
    ///
    /// - Parameter number: `tcId`.
    func json(number: Int) -> JSON {
        var members = [
            JSON.Member("tcId", .integer(number)),
            JSON.Member("flags", .array(flags.map(JSON.string))),
            JSON.Member("comment", .string(comment)), JSON.Member("token", .string(made.token)),
        ]
        if let code = made.code { members.append(JSON.Member("code", .string(code))) }
        if let token = made.accessToken {
            members.append(JSON.Member("access_token", .string(token)))
        }
        return .object(members + [JSON.Member("result", .string(result.rawValue))])
    }
}

/// Tokens for one verifier: one key set, one time, one nonce.
package struct VectorGroup: Sendable {
    package let kind: VectorOptions.Kind
    package let issuer: String
    package let audiences: [String]
    /// The nonce before it is hashed; nil for notifications.
    package let nonce: String?
    package let keySet: JSON
    /// Seconds since 1970.
    package let now: Int
    package let vectors: [Vector]

    /// - Parameter first: the number of the first vector.
    func json(from first: Int) -> JSON {
        var members = [
            JSON.Member("type", .string(kind.rawValue)), JSON.Member("issuer", .string(issuer)),
            JSON.Member("audiences", .array(audiences.map(JSON.string))),
        ]
        if let nonce {
            members += [
                JSON.Member("nonce", .string(nonce)), JSON.Member("nonceForm", "sha256-hex"),
            ]
        }
        members += [
            JSON.Member("jwks", keySet), JSON.Member("now", .integer(now)),
            JSON.Member(
                "tests",
                .array(vectors.enumerated().map { $1.json(number: first + $0) })),
        ]
        return .object(members)
    }
}
