internal import JOSE
internal import Lifecycle
internal import LocalFiles
internal import SIWACrypto

/// Verifies the lines of a batch like `siwa verify`.
struct ItemVerifier: Sendable {
    private let verifying: Verifying
    private let keys: BatchKeys
    /// The set of --jwks.
    private let given: KeySet?
    /// Which results are written.
    private let filter: StatusFilter
    private var known: KnownKeys?
    private var rules: TokenVerifier
    private var reader = CompactJWSReader()
    private var writer = VerdictWriter()

    init(_ verifying: Verifying, _ keys: BatchKeys, given: KeySet?, _ filter: StatusFilter) {
        (self.verifying, self.keys, self.given) = (verifying, keys, given)
        self.filter = filter
        known = given.map { KnownKeys($0, fetchedAt: nil) }
        rules = verifying.rules(by: given)
    }

    /// The result of a line; nil for an empty line.
    ///
    /// - Parameters:
    ///   - isDone: whether the output already has its result.
    ///   - text: the result line is appended to it.
    /// - Throws: ``KeySetError`` if there is no key set for any item.
    mutating func result(
        of line: InputLine, isDone: Bool, appendingTo text: inout [UInt8]
    ) async throws -> LineResult? {
        let start = text.count
        func result(_ id: JSON?, _ status: BatchStatus, in text: [UInt8]) -> LineResult {
            LineResult(
                line: line.number, id: id, status: status,
                length: isDone ? nil : text.count - start)
        }
        let number = line.number
        let item: IdentityTokenItem
        do throws(InvalidLine) {
            guard let read = try line.item(Self.read) else { return nil }
            item = read
        } catch {
            if !isDone, filter.contains(.invalid) { text += error.bytes(number) }
            return result(nil, .invalid, in: text)
        }
        if isDone { return result(item.id, .done, in: text) }
        switch try await answer(about: item) {
        case .found(let verification):
            let status: BatchStatus = verification.isValid ? .done : .refused
            if filter.contains(status) { writer.append(item, status, verification, to: &text) }
            return result(item.id, status, in: text)
        case .unknowable(let reason):
            if filter.contains(.failed) {
                text += BatchOutput.bytes(
                    line: number, item.name,
                    ItemReport(.failed, .temporary, error: .error("no_key_set", reason))
                        .identifying(item.token.fingerprint))
            }
            return result(item.id, .failed, in: text)
        }
    }

    @Sendable private static func read(
        _ line: SecretBytes, _ number: Int
    ) throws(InvalidLine) -> IdentityTokenItem {
        try IdentityTokenItem(line, line: number)
    }

    private enum Answer {
        case found(IdentityTokenVerification)
        /// Only a newer key set could tell whether the token is Apple's.
        case unknowable(String)
    }

    private mutating func answer(about item: IdentityTokenItem) async throws -> Answer {
        let token: CompactJWS
        do throws(CompactJWSError) {
            token = try reader.read(item.token.bytes.revealed())
        } catch {
            return .found(IdentityTokenVerification(error))
        }
        // Without a `kid`, or with a header that Apple does not write, no key is needed.
        guard let keyID = token.verificationKeyID else {
            return .found(verify(token, item, by: verifying.rules(by: given, for: item.clientID)))
        }
        let known = try await keys(for: keyID)
        guard known.keySet.keys[keyID] != nil || known.canRefuse(at: clock) else {
            return .unknowable(
                """
                kid is \(printable(keyID)), which Apple's keys \(known.age) do not have, and \
                newer ones could not be fetched
                """)
        }
        if let clientID = item.clientID {
            let rules = verifying.rules(by: known.keySet, for: clientID)
            return .found(verify(token, item, by: rules))
        }
        return .found(verify(token, item, by: rules))
    }

    private func verify(
        _ token: CompactJWS, _ item: IdentityTokenItem, by rules: TokenVerifier
    ) -> IdentityTokenVerification {
        rules.verify(identityToken: token, boundTo: item.binding, at: item.moment ?? verifying.now)
    }

    private var clock: NumericDate { verifying.session.world.clocks.now() }

    private mutating func keys(for keyID: String) async throws -> KnownKeys {
        if let known, known.settles(keyID, at: clock) { return known }
        let found = try await keys.keys(for: keyID)
        known = found
        rules = verifying.rules(by: found.keySet)
        return found
    }
}

extension JSON.Member {
    /// An error in the line of an item, without hints.
    static func error(_ code: String, _ message: String) -> Self {
        .init("error", ["code": .string(code), "message": .string(message)])
    }
}
