package import SIWAJOSE

/// One way to make an identity token that differs from a good one in one property.
package struct BadToken: Sendable {
    /// A token, and what a verifier is given with it where that differs from the good sign-in.
    package struct Made: Sendable {
        package var token: String
        /// The key set, where the one of the issuer would not do.
        package var keySet: JSON?
        /// The code that came with the token, where it is checked against the token.
        package var code: String?
        /// The access token, where it is checked against the token.
        package var accessToken: String?

        package init(
            _ token: String, keySet: JSON? = nil, code: String? = nil, accessToken: String? = nil
        ) {
            (self.token, self.keySet, self.code, self.accessToken) =
                (token, keySet, code, accessToken)
        }
    }

    /// Where a variant is used.
    package enum Use: Sendable {
        case everywhere
        /// Needs a key set of its own, or Apple's key where the check is about strangers.
        case vectors
        case conform
    }

    /// The id of the check.
    package let id: String
    /// What is wrong with it.
    package let comment: String
    /// Whether it is sent without `--exhaustive`.
    package let isRepresentative: Bool
    package let use: Use
    private let ownResult: VectorResult?
    /// Makes the token; throws ``NotPossible`` where the issuer lacks what it takes.
    package let make: @Sendable (GoodSignIn, Issuer) async throws -> Made

    /// - Parameter result: nil for that of the check.
    package init(
        _ id: String, _ comment: String, isRepresentative: Bool = true, use: Use = .everywhere,
        result: VectorResult? = nil,
        _ make: @escaping @Sendable (GoodSignIn, Issuer) async throws -> Made
    ) {
        (self.id, self.comment, self.isRepresentative) = (id, comment, isRepresentative)
        (self.use, ownResult, self.make) = (use, result, make)
    }

    /// What a verifier must say to it.
    package var result: VectorResult { ownResult ?? Catalogue.check(id)?.vector ?? .invalid }

    /// The checks whose tokens may have a verifier look for a key that nobody publishes.
    package static let unknownKeys: Set<String> = ["T03", "T04", "T06", "T17", "K02", "K03"]

    /// Every such token, in the order of the catalogue.
    package static let all: [BadToken] = {
        let all =
            unsigned + confused + foreignKeys + changedBytes + changedNumbers + encrypted + lenient
            + otherAlgorithms
            + keyIDs + keySets + audiences + issuers + times + nonces + hashes + otherTokens
            + shapes + lateKeys
        return all.sorted { $0.id < $1.id }
    }()
}

// Short forms of makers.
extension BadToken {
    /// A token that is a text.
    static func text(
        _ id: String, _ comment: String, _ isRepresentative: Bool = true, use: Use = .everywhere,
        result: VectorResult? = nil,
        _ make: @escaping @Sendable (GoodSignIn, Issuer) async throws -> String
    ) -> BadToken {
        BadToken(id, comment, isRepresentative: isRepresentative, use: use, result: result) {
            Made(try await make($0, $1))
        }
    }

    /// A token with other claims, well signed.
    static func claims(
        _ id: String, _ comment: String, _ isRepresentative: Bool = true,
        result: VectorResult? = nil,
        _ changes: @escaping @Sendable (GoodSignIn) throws -> [(String, JSON?)]
    ) -> BadToken {
        text(id, comment, isRepresentative, result: result) { good, issuer in
            try await good.signed(claims: changes(good), by: issuer)
        }
    }

    /// A token with another header, well signed.
    static func header(
        _ id: String, _ comment: String, _ isRepresentative: Bool = true,
        use: Use = .everywhere, result: VectorResult? = nil,
        _ changes: @escaping @Sendable (GoodSignIn) throws -> [(String, JSON?)]
    ) -> BadToken {
        text(id, comment, isRepresentative, use: use, result: result) { good, issuer in
            try await good.signed(header: changes(good), by: issuer)
        }
    }

    /// A token with another header, signed by the attacker's key.
    static func forged(
        _ id: String, _ comment: String, _ isRepresentative: Bool = true,
        _ changes: @escaping @Sendable (GoodSignIn) throws -> [(String, JSON?)]
    ) -> BadToken {
        text(id, comment, isRepresentative) { good, _ in
            try good.forged(header: changes(good))
        }
    }
}
