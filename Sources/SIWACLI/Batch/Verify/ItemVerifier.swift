internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// Verifies the lines of a batch like `siwa verify`.
struct ItemVerifier: Sendable {
    private let keys: BatchKeys
    // Not `Verifying` itself, which is so large that copying it for each token would show.
    private let clock: @Sendable () -> NumericDate
    /// The time as of which to verify an item that has none.
    private let now: @Sendable () -> NumericDate
    /// The rules by a key set, and for a client if the item names one.
    private let makeRules: @Sendable (KeySet?, ClientID?) -> TokenVerifier
    /// The set of --jwks.
    private let given: KeySet?
    /// Which results are written.
    private let filter: StatusFilter
    private var known: KnownKeys?
    private var rules: TokenVerifier
    private var reader: CompactJWSReader
    private var writer = VerdictWriter()

    init(_ verifying: Verifying, _ keys: BatchKeys, given: KeySet?, _ filter: StatusFilter) {
        (self.keys, self.given, self.filter) = (keys, given, filter)
        clock = verifying.session.world.clocks.now
        now = { verifying.now }
        makeRules = { verifying.rules(by: $0, for: $1) }
        // A valid token's result has a fingerprint.
        reader = CompactJWSReader(isHashing: filter.contains(.done))
        known = given.map { KnownKeys($0, fetchedAt: nil) }
        rules = makeRules(given, nil)
    }

    /// What follows from a line.
    enum Outcome {
        /// The line is empty.
        case nothing
        case result(LineResult)
        /// The line must be examined again after ``findKeys(for:)``.
        case needsKey(String)
    }

    /// Examines a line. Not asynchronous, because hardly any line has to wait for a key.
    ///
    /// - Parameters:
    ///   - isDone: whether the output already has its result.
    ///   - hasSearched: whether the keys were searched for this line.
    ///   - text: the result line is appended to it.
    mutating func examine(
        _ line: InputLine, isDone: Bool, hasSearched: Bool = false, appendingTo text: inout [UInt8]
    ) -> Outcome {
        let start = text.count
        func result(_ id: JSON?, _ status: BatchStatus, in text: [UInt8]) -> Outcome {
            .result(
                LineResult(
                    line: line.number, id: id, status: status,
                    length: isDone ? nil : text.count - start))
        }
        let item: IdentityTokenItem
        do throws(InvalidLine) {
            guard let read = try line.item(Self.read) else { return .nothing }
            item = read
        } catch {
            if !isDone, filter.contains(.invalid) { text += error.bytes(line.number) }
            return result(nil, .invalid, in: text)
        }
        if isDone { return result(item.id, .done, in: text) }
        let verification: IdentityTokenVerification
        do throws(CompactJWSError) {
            let token = try reader.read(item.token.bytes.revealed())
            let keyID = token.verificationKeyID
            if let keyID {
                guard hasSearched || isSettled(keyID) else { return .needsKey(keyID) }
                if let reason = doubt(about: keyID) {
                    if filter.contains(.failed) { text += noKeySet(for: item, reason) }
                    return result(item.id, .failed, in: text)
                }
            }
            verification = verify(token, item, needsKey: keyID != nil)
        } catch {
            verification = IdentityTokenVerification(error)
        }
        let status: BatchStatus = verification.isValid ? .done : .refused
        if filter.contains(status) { writer.append(item, status, verification, to: &text) }
        return result(item.id, status, in: text)
    }

    /// Searches for a key that a line needs.
    ///
    /// - Throws: ``KeySetError`` if there is no key set for any item.
    mutating func findKeys(for keyID: String) async throws {
        let found = try await keys.keys(for: keyID)
        known = found
        rules = makeRules(found.keySet, nil)
    }

    @Sendable private static func read(
        _ line: SecretBytes, _ number: Int
    ) throws(InvalidLine) -> IdentityTokenItem {
        try IdentityTokenItem(line, line: number)
    }

    /// Why the known keys cannot tell whether a token is Apple's; nil if they can.
    private func doubt(about keyID: String) -> String? {
        guard let known, !known.canRefuse(at: clock()), known.keySet[keyID] == nil else {
            return nil
        }
        return """
            kid is \(printable(keyID)), which Apple's keys \(known.age) do not have, and newer ones \
            could not be fetched
            """
    }

    private func noKeySet(for item: IdentityTokenItem, _ reason: String) -> [UInt8] {
        BatchOutput.bytes(
            line: item.line, item.name,
            ItemReport(.failed, .temporary, error: .error(.noKeySet, reason))
                .identifying(item.token.fingerprint))
    }

    /// - Parameter needsKey: whether the token has a `kid`, and a header that Apple writes.
    private func verify(
        _ token: CompactJWS, _ item: IdentityTokenItem, needsKey: Bool
    ) -> IdentityTokenVerification {
        func verify(by rules: TokenVerifier) -> IdentityTokenVerification {
            rules.verify(
                identityToken: token, boundTo: item.binding, at: item.moment ?? now())
        }
        guard needsKey else { return verify(by: makeRules(given, item.clientID)) }
        guard let clientID = item.clientID else { return verify(by: rules) }
        return verify(by: makeRules(known?.keySet, clientID))
    }

    /// Whether the known keys are new enough for this `kid`.
    private func isSettled(_ keyID: String) -> Bool {
        known?.settles(keyID, at: clock()) ?? false
    }
}

extension JSON.Member {
    /// An error in the line of an item, without hints.
    static func error(_ code: ErrorCode, _ message: String) -> Self {
        .init("error", ["code": .string(code.rawValue), "message": .string(message)])
    }
}
