internal import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle
package import SIWAVaultRecords

/// The result for one stored token.
package struct TokenOutcome: Sendable {
    let clientID: ClientID
    /// Null for a row that cannot be read.
    let fingerprint: JSON
    package let isRevokedEarlier: Bool
    let wasDead: Bool
    /// Whether the token was removed from the vault although it may still work.
    private(set) var isRemoved = false
    /// When the token was revoked, or when this run examined it.
    package private(set) var date: NumericDate
    /// The result of this run's requests; nil if no request was sent, or no answer was received.
    package private(set) var revocation: Revocation?
    /// The error; nil if there was none.
    package var failure: Diagnosis?

    /// Describes a token whose result is known.
    ///
    /// - Parameters:
    ///   - revocation: the result of the requests; nil if there were none.
    ///   - date: when the token was revoked.
    package init(
        _ fingerprint: TokenFingerprint, of clientID: ClientID, _ revocation: Revocation?,
        at date: NumericDate, failure: Diagnosis? = nil
    ) {
        self.clientID = clientID
        self.fingerprint = .string(fingerprint.rawValue)
        (isRevokedEarlier, wasDead) = (false, false)
        (self.date, self.revocation, self.failure) = (date, revocation, failure)
    }

    /// Describes a token that was removed from the vault although it may still work.
    ///
    /// - Parameter date: when it was removed.
    package init(
        removed fingerprint: TokenFingerprint, of clientID: ClientID, at date: NumericDate
    ) {
        self.init(fingerprint, of: clientID, nil, at: date)
        isRemoved = true
    }

    /// Describes a token before its first request.
    package init(_ record: VaultRecord) {
        clientID = record.user.clientID
        fingerprint = .string(record.id.fingerprint.rawValue)
        isRevokedEarlier = record.state == .revoked
        wasDead = record.state == .dead
        date = record.changedAt
    }

    /// Describes a row that cannot be read.
    package init(damaged row: DamagedRecord, of clientID: ClientID) {
        self.clientID = clientID
        (fingerprint, isRevokedEarlier, wasDead) = (.null, false, false)
        date = NumericDate(0)
        failure = Diagnosis(row.error)
    }

    /// Takes the result of the requests.
    package mutating func take(_ revocation: Revocation, at now: NumericDate) {
        self.revocation = revocation
        // A token that was revoked before, and is dead, keeps the time of its revocation.
        if !isRevokedEarlier || revocation.status != nil { date = now }
    }

    /// Whether the token no longer works, as far as known.
    var isDead: Bool { revocation?.isDead ?? isRevokedEarlier }

    /// Whether a refused refresh of this run proves that the token does not work.
    var isConfirmed: Bool { revocation?.isProven ?? false }

    /// Whether the token still works, as far as known.
    var stillWorks: Bool { revocation?.evidence == .refreshAccepted }

    /// Whether Apple refused a token that was active in the vault.
    package var isDeadUnexpectedly: Bool {
        revocation?.wasActive == false && !isRevokedEarlier && !wasDead
    }

    fileprivate static let removed = JSON.Member("evidence", "removed")

    /// The members of the token's result, in their order.
    var members: [JSON.Member] {
        [
            .init("token_fingerprint", fingerprint), .init("revoked", .boolean(isDead)),
            .init("confirmed", .boolean(isConfirmed)),
            .init("http_status", revocation?.status.map { .integer($0) } ?? .null),
            .init("at", isDead ? .string(date.rfc3339) : .null),
        ] + (revocation?.proofMembers ?? []) + (isRemoved ? [Self.removed] : [])
            + (failure.map { [$0.member] } ?? [])
    }
}

/// The result for all stored tokens of a user.
package struct StoredRevocationReport: Sendable {
    private let outcomes: [TokenOutcome]
    private let userID: UserID?
    private let now: NumericDate

    /// Combines the outcomes, of which there must be at least one.
    ///
    /// - Parameter userID: nil if the user was erased.
    package init(_ outcomes: [TokenOutcome], of userID: UserID?, at now: NumericDate) {
        (self.outcomes, self.userID, self.now) = (outcomes, userID, now)
    }

    /// Whether no token is left that may work.
    package var isRevoked: Bool { outcomes.allSatisfy(\.isDead) }

    /// Whether a refused refresh proves it for each token.
    var isConfirmed: Bool { outcomes.allSatisfy(\.isConfirmed) }

    /// Whether one of them worked before; nil if unknown.
    var wasActive: Bool? {
        let known = outcomes.compactMap { $0.revocation?.wasActive }
        if known.contains(true) { return true }
        return known.count == outcomes.count ? false : nil
    }

    /// The result's members, in their order. If there are several clients, each token has its own
    /// `client_id`.
    package var members: [JSON.Member] {
        let clients = outcomes.map(\.clientID).unique
        let isShared = clients.count == 1
        let tokens = outcomes.map { outcome in
            JSON.object((isShared ? [] : [Self.member(outcome.clientID)]) + outcome.members)
        }
        return [
            .init("revoked", .boolean(isRevoked)), .init("confirmed", .boolean(isConfirmed)),
            .init("kind", .string(TokenKind.refreshToken.rawValue)),
        ] + (isShared ? clients.map(Self.member) : [])
            + [
                .init("user_id", userID.map { .string($0.rawValue) } ?? .null),
                .init("at", .string(date.rfc3339)),
            ] + (wasActive.map { [.init("was_active", .boolean($0))] } ?? [])
            + (outcomes.contains(where: \.isRemoved) ? [TokenOutcome.removed] : [])
            + [.init("tokens", .array(tokens))]
    }

    private static func member(_ clientID: ClientID) -> JSON.Member {
        .init("client_id", .string(clientID.rawValue))
    }

    /// When the last token was revoked, if all were revoked before this run.
    private var date: NumericDate {
        let isEarlier = outcomes.allSatisfy {
            $0.isRevokedEarlier && $0.revocation?.status == nil && $0.failure == nil
        }
        return isEarlier ? outcomes.map(\.date).max() ?? now : now
    }

    /// Fails if a token still works, if one could not be revoked, or if a refusal proves nothing.
    package func check() throws {
        let working = outcomes.filter(\.stillWorks)
        guard working.isEmpty else {
            throw Diagnosis.negative(
                .notRevoked,
                "\(working.count == 1 ? "a token still works" : "\(working.count) tokens still work")"
                    + " after Apple accepted the revocation",
                hints: ["check that they belong to this client: --client-id, --profile"],
                requestID: working[0].revocation?.requestID)
        }
        let failures = outcomes.compactMap(\.failure)
        guard failures.isEmpty else {
            throw Diagnosis.partial(
                failures, of: outcomes.count, "revoked",
                exitCode: .prevailing(among: failures.map(\.exitCode)))
        }
        for outcome in outcomes { try outcome.revocation?.checkProof() }
    }

    /// The names of the members that a result can have, so that a misspelled `--print` is found
    /// before anything is revoked.
    package static func memberNames(_ proof: Revocation.Proof) -> [String] {
        ["revoked", "confirmed", "kind", "client_id", "user_id", "at"]
            + (proof == .none ? [] : ["was_active"]) + ["tokens", "other_clients"]
    }
}
