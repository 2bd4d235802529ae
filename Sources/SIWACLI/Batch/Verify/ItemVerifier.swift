internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// Verifies one line of a batch after the other, as `siwa verify` verifies one token.
struct ItemVerifier: Sendable {
    private let verifying: Verifying
    private let keys: BatchKeys
    /// The set of --jwks.
    private let given: KeySet?
    private var known: KnownKeys?
    private var rules: TokenVerifier

    init(_ verifying: Verifying, _ keys: BatchKeys, given: KeySet?) {
        (self.verifying, self.keys, self.given) = (verifying, keys, given)
        known = given.map { KnownKeys($0, fetchedAt: nil) }
        rules = verifying.rules(by: given)
    }

    /// What comes of a line; nil of an empty one.
    ///
    /// - Parameter isDone: whether the output has its result already.
    /// - Throws: ``KeySetError`` when there is no key set to be had, for no item.
    mutating func result(of line: InputLine, isDone: Bool) async throws -> LineResult? {
        let number = line.number
        if let bytes = line.bytes, bytes.isBlank { return nil }
        let item: IdentityTokenItem
        do throws(InvalidLine) {
            guard let bytes = line.bytes else { throw .tooLong }
            item = try IdentityTokenItem(bytes, line: number, refusal: misshape)
        } catch {
            return LineResult(line: number, id: nil, .invalid, isDone ? nil : error.bytes(number))
        }
        if isDone { return LineResult(line: number, id: item.id, .done, nil) }
        let report = try await report(on: item)
        return LineResult(
            line: number, id: item.id, report.status,
            BatchOutput.bytes(
                line: number, id: item.id, report.status, report.exitCode, report.members))
    }

    private mutating func report(on item: IdentityTokenItem) async throws -> ItemReport {
        let token: CompactJWS
        do throws(CompactJWSError) {
            token = try CompactJWS(item.token.bytes.revealed())
        } catch {
            return ItemReport(IdentityTokenVerification(error))
        }
        let now = verifying.now
        // For a header that Apple does not write, no key is looked for.
        guard let keyID = token.verificationKeyID else {
            return ItemReport(
                verifying.rules(by: given, for: item.clientID)
                    .verify(identityToken: token, boundTo: item.binding, at: now))
        }
        let known = try await keys(for: keyID)
        guard known.keySet.keys[keyID] != nil || known.canCondemn(at: clock) else {
            return ItemReport(unknownKey: keyID, known)
        }
        let rules = item.clientID.map { verifying.rules(by: known.keySet, for: $0) } ?? rules
        return ItemReport(rules.verify(identityToken: token, boundTo: item.binding, at: now))
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

extension ItemReport {
    /// What `siwa verify` prints, and for a token that is not valid its error.
    init(_ verification: IdentityTokenVerification) {
        let content = verification.verdict + (verification.token?.identityMembers ?? [])
        guard !verification.isValid else {
            self.init(.done, .done, content)
            return
        }
        let refusal = VerifiedSubject.identityToken.refusal(verification.failures, hints: [])
        self.init(.refused, .no, [.error(refusal.code, refusal.message)] + content)
    }

    /// Whether the token is Apple's, only Apple could have said.
    fileprivate init(unknownKey keyID: String, _ known: KnownKeys) {
        self.init(
            .failed, .temporary,
            [
                .error(
                    "no_key_set",
                    """
                    kid is \(printable(keyID)), which Apple's keys \(known.age) do not have, and \
                    no newer ones could be had
                    """
                )
            ])
    }
}

extension JSON.Member {
    /// An error as the line of an item has it: there is no room for advice.
    static func error(_ code: String, _ message: String) -> Self {
        .init("error", ["code": .string(code), "message": .string(message)])
    }
}
