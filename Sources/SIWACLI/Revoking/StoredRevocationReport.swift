internal import JOSE
internal import Lifecycle
internal import SIWACrypto

/// What became of one stored token.
struct TokenOutcome: Sendable {
    let fingerprint: JSON
    let isRevokedEarlier: Bool
    let wasDead: Bool
    /// When the token was revoked, or when this run looked at it.
    private(set) var date: NumericDate
    /// What this run found out; nil if no request was sent, or no answer came.
    private(set) var revocation: Revocation?
    /// The error; nil if there was none.
    var failure: Diagnosis?

    /// Describes a token before anything is sent about it.
    init(_ record: VaultRecord, _ fingerprint: JSON) {
        self.fingerprint = fingerprint
        isRevokedEarlier = record.state == .revoked
        wasDead = record.state == .dead
        date = record.changedAt
    }

    /// Describes a row that cannot be read.
    init(damaged row: DamagedRecord) {
        (fingerprint, isRevokedEarlier, wasDead) = (.null, false, false)
        date = NumericDate(0)
        failure = Diagnosis(row.error)
    }

    /// Takes what was found out.
    mutating func take(_ revocation: Revocation, at now: NumericDate) {
        self.revocation = revocation
        // A token that was revoked before, and is dead, keeps the time of its revocation.
        if !isRevokedEarlier || revocation.status != nil { date = now }
    }

    /// Whether, for all that is known, the token does not work any more.
    var isDead: Bool { revocation?.isDead ?? isRevokedEarlier }

    /// Whether a refused refresh of this run proves that the token does not work.
    var isConfirmed: Bool { revocation?.evidence?.showsDead ?? false }

    /// Whether the token still works, for all that is known.
    var stillWorks: Bool { revocation?.evidence == .refreshAccepted }

    /// Whether Apple refused a token that the vault believed to work.
    var isDeadUnexpectedly: Bool {
        revocation?.wasActive == false && !isRevokedEarlier && !wasDead
    }

    /// The members of the token's result, in their order.
    var members: [JSON.Member] {
        [
            .init("token_fingerprint", fingerprint), .init("revoked", .boolean(isDead)),
            .init("confirmed", .boolean(isConfirmed)),
            .init("http_status", revocation?.status.map { .integer($0) } ?? .null),
            .init("at", isDead ? .string(date.rfc3339) : .null),
        ] + (revocation?.proofMembers ?? [])
            + (failure.map { [$0.member] } ?? [])
    }
}

/// What became of all stored tokens of a user.
struct StoredRevocationReport: Sendable {
    private let outcomes: [TokenOutcome]
    private let user: VaultUser
    private let now: NumericDate

    /// Puts the outcomes together.
    init(_ outcomes: [TokenOutcome], of user: VaultUser, at now: NumericDate) {
        (self.outcomes, self.user, self.now) = (outcomes, user, now)
    }

    /// Whether no token is left that may work.
    var isRevoked: Bool { outcomes.allSatisfy(\.isDead) }

    /// Whether a refused refresh proves it of each token.
    var isConfirmed: Bool { outcomes.allSatisfy(\.isConfirmed) }

    /// Whether one of them worked before; nil if that is not known.
    var wasActive: Bool? {
        let known = outcomes.compactMap { $0.revocation?.wasActive }
        if known.contains(true) { return true }
        return known.count == outcomes.count ? false : nil
    }

    /// The result's members, in their order.
    var members: [JSON.Member] {
        [
            .init("revoked", .boolean(isRevoked)), .init("confirmed", .boolean(isConfirmed)),
            .init("kind", .string(TokenKind.refreshToken.rawValue)),
            .init("client_id", .string(user.clientID.rawValue)),
            .init("user_id", .string(user.userID.rawValue)),
            .init("at", .string(date.rfc3339)),
        ] + (wasActive.map { [.init("was_active", .boolean($0))] } ?? [])
            + [.init("tokens", .array(outcomes.map { .object($0.members) }))]
    }

    /// When the last token was revoked, if all were revoked before this run.
    private var date: NumericDate {
        let isEarlier = outcomes.allSatisfy {
            $0.isRevokedEarlier && $0.revocation?.status == nil && $0.failure == nil
        }
        return isEarlier ? outcomes.map(\.date).max() ?? now : now
    }

    /// Fails if a token still works, or if one could not be revoked.
    func check() throws {
        let working = outcomes.filter(\.stillWorks)
        guard working.isEmpty else {
            throw Diagnosis.negative(
                "not_revoked",
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
    }

    /// The names of the members that a result can have, so that a misspelled `--print` is found
    /// before anything is revoked.
    static func memberNames(_ proof: Revocation.Proof) -> [String] {
        ["revoked", "confirmed", "kind", "client_id", "user_id", "at"]
            + (proof == .none ? [] : ["was_active"]) + ["tokens", "other_clients"]
    }
}
