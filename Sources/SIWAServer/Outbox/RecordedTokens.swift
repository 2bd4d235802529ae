internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// What the history and the vault say about tokens of which none is left to revoke. A pure value.
struct RecordedTokens {
    /// A token, under whichever id its user had.
    private struct Token: Hashable {
        let clientID: ClientID
        let fingerprint: TokenFingerprint
    }

    /// Why a token no longer works, or nil if it may still work; and when that became known.
    private struct Fate {
        var revocation: Revocation?
        var at: NumericDate
    }

    private var fates: [Token: Fate] = [:]
    /// When the last change was; nil if there never was a token.
    private(set) var lastChange: NumericDate?

    /// - Parameters:
    ///   - entries: the history of the user, the oldest entry first.
    ///   - records: the records of the user, all of which are revoked.
    init(_ entries: [VaultHistoryEntry], _ records: [VaultRecord]) {
        for entry in entries { take(entry) }
        for record in records {
            lastChange = max(lastChange ?? record.changedAt, record.changedAt)
            let token = Token(
                clientID: record.user.clientID, fingerprint: record.id.fingerprint)
            guard fates[token]?.revocation == nil else { continue }
            fates[token] = Fate(
                revocation: Revocation(status: 200, wasActive: nil, evidence: nil),
                at: record.changedAt)
        }
    }

    private mutating func take(_ entry: VaultHistoryEntry) {
        lastChange = max(lastChange ?? entry.at, entry.at)
        let token = Token(clientID: entry.user.clientID, fingerprint: entry.fingerprint)
        var fate = fates[token] ?? Fate(revocation: nil, at: entry.at)
        defer { fates[token] = fate }
        switch entry.event {
        case .stored, .active, .revoking: fate = Fate(revocation: nil, at: entry.at)
        case .revoked:
            fate = Fate(
                revocation: Revocation(
                    status: entry.details.httpStatus ?? 200, wasActive: nil,
                    evidence: entry.details.evidence, requestID: entry.details.appleRequestID),
                at: entry.at)
        case .dead where fate.revocation == nil:
            fate = Fate(
                revocation: Revocation(
                    status: nil, wasActive: false, evidence: .refreshRejected,
                    refreshStatus: entry.details.httpStatus,
                    requestID: entry.details.appleRequestID),
                at: entry.at)
        // Apple ended the token.
        case .consentRevoked where fate.revocation == nil,
            .accountDeleted where fate.revocation == nil:
            fate = Fate(
                revocation: Revocation(status: nil, wasActive: false, evidence: nil), at: entry.at)
        case .removed, .pruned: if fate.revocation == nil { fate.at = entry.at }
        case .dead, .consentRevoked, .accountDeleted, .remapped: break
        }
    }

    /// The result for each token. One that was removed although it may still work cannot be revoked.
    var outcomes: [TokenOutcome] {
        let inOrder = fates.sorted { left, right in
            (left.key.clientID.rawValue, left.key.fingerprint)
                < (right.key.clientID.rawValue, right.key.fingerprint)
        }
        return inOrder.map { token, fate in
            fate.revocation.map {
                TokenOutcome(token.fingerprint, of: token.clientID, $0, at: fate.at)
            } ?? TokenOutcome(removed: token.fingerprint, of: token.clientID, at: fate.at)
        }
    }
}
