internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// Reads the members of a request's body and the parameters of its query. Each error names its
/// member.
struct RequestMembers {
    private let json: JSON
    private let parameters: [String: String]

    init(_ request: RouteRequest) {
        parameters = request.parameters
        guard !request.parameters.isEmpty else {
            json = request.body
            return
        }
        let parameters = parameters.sorted { $0.key < $1.key }
            .map { JSON.Member($0.key, .string($0.value)) }
        json = .object((request.body.members ?? []) + parameters)
    }

    /// A string that is not empty; nil if it is absent.
    func text(_ name: String) throws(Problem) -> String? {
        guard let value = json[name] else { return nil }
        guard let text = value.string else {
            throw .malformed("'\(name)' must be a string, not \(value.kind)")
        }
        // The number of bytes is known without counting.
        let isShort =
            text.utf8.count <= JSONSchema.longestText
            || text.unicodeScalars.count <= JSONSchema.longestText
        guard !text.isEmpty, isShort else {
            throw .malformed("'\(name)' must have 1 to \(JSONSchema.longestText) characters")
        }
        guard !text.hasNUL else {
            throw .malformed("'\(name)' must not contain a NUL character")
        }
        return text
    }

    /// `true` or `false`.
    func flag(_ name: String, standard: Bool) throws(Problem) -> Bool {
        guard let value = json[name] else { return standard }
        // The query has only strings.
        let word = isInQuery(name) ? value.string.flatMap { Bool($0) } : nil
        guard let flag = value.boolean ?? word else {
            throw .malformed("'\(name)' must be true or false, not \(value.kind)")
        }
        return flag
    }

    /// A whole number; in the query, decimal digits without leading zeros.
    func integer(
        _ name: String, in range: ClosedRange<Int>, standard: Int
    ) throws(Problem) -> Int {
        guard let value = json[name] else { return standard }
        let digits = value.string.flatMap { text in
            Int(text).flatMap { String($0) == text ? $0 : nil }
        }
        guard let number = value.wholeNumber ?? digits, range.contains(number) else {
            throw .malformed(
                "'\(name)' must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private func isInQuery(_ name: String) -> Bool { parameters[name] != nil }

    /// A duration: a number of seconds, or a string such as `15m`.
    func duration(_ name: String) throws(Problem) -> Duration? {
        guard let value = json[name] else { return nil }
        if let seconds = value.wholeNumber, (0...JSONSchema.longestDuration).contains(seconds) {
            return .seconds(seconds)
        }
        guard let parsed = value.string.flatMap(DurationArgument.init(argument:)) else {
            // The query has no numbers.
            let other = isInQuery(name) ? "" : ", or seconds as a number"
            throw .malformed("'\(name)' must be \(DurationArgument.expectation)\(other)")
        }
        return parsed.duration
    }

    /// A secret for Apple's endpoints, such as a code.
    func opaqueToken(_ name: String) throws(Problem) -> SecretText? {
        try secret(name, validateOpaqueToken)
    }

    /// A refresh token that is to be revoked. Apple would accept any text.
    func revocableToken(_ name: String) throws(Problem) -> SecretText? {
        try secret(name) { text throws(OpaqueTokenError) in
            _ = try judgeRevocable(text, as: .refreshToken)
        }
    }

    func codeVerifier(_ name: String) throws(Problem) -> CodeVerifier? {
        try secret(name, validateVisibleText).map { CodeVerifier($0) }
    }

    private func secret(
        _ name: String, _ validate: (SecretText) throws(OpaqueTokenError) -> Void
    ) throws(Problem) -> SecretText? {
        guard let text = try text(name) else { return nil }
        let secret = SecretText(text)
        do throws(OpaqueTokenError) {
            try validate(secret)
        } catch {
            throw .malformed("'\(name)' \(error)")
        }
        return secret
    }

    /// The client id in a member; nil if the member is absent.
    func clientID(_ name: String) throws(Problem) -> ClientID? {
        guard let text = try text(name) else { return nil }
        do throws(IdentifierError) {
            return try ClientID(validating: text)
        } catch {
            throw .malformed("'\(name)' \(error.fault)")
        }
    }

    /// The user id in a member; nil if the member is absent.
    func userID(_ name: String) throws(Problem) -> UserID? {
        guard let text = try text(name) else { return nil }
        do throws(IdentifierError) {
            // Validated by the rules of the vault.
            return try VaultUser(ClientID(unchecked: "any"), validating: text).userID
        } catch {
            throw .malformed("'\(name)' \(error.fault)")
        }
    }

    func identityToken(_ name: String) throws(Problem) -> CompactJWS? {
        guard let text = try text(name) else { return nil }
        do throws(CompactJWSError) {
            return try CompactJWS(Array(text.utf8))
        } catch {
            throw .malformed("'\(name)' is not a JWT: \(error)")
        }
    }
}

extension JSON {
    /// A whole number, also one that is written as JSON Schema allows: 25.0.
    fileprivate var wholeNumber: Int? {
        guard case .number(let text) = self else { return integer }
        return Double(text).flatMap { Int(exactly: $0) }
    }
}
