package import SIWALifecycle
package import SIWAVaultRecords

/// The event that Apple's answer is for a record of the vault, with its evidence: the same rule for
/// single commands and batches.
package struct NotedEvent: Sendable {
    /// The change to the record.
    package let event: VaultEvent
    /// The evidence for the history: Apple's answer and its request id.
    package let details: VaultEventDetails

    private init(_ event: VaultEvent, _ details: VaultEventDetails) {
        (self.event, self.details) = (event, details)
    }

    /// The event of an answer to a refresh; nil if it does not concern the token.
    package init?(refresh outcome: ItemOutcome<TokenResponse>) {
        switch outcome {
        case .done(let answer):
            self.init(.refreshed, VaultEventDetails(appleRequestID: answer.requestID))
        case .refused(let refusal) where refusal.code == .invalidGrant:
            self.init(
                .refreshRefused,
                VaultEventDetails(
                    evidence: .refreshRejected, httpStatus: refusal.status,
                    appleRequestID: refusal.requestID))
        case .refused: return nil
        }
    }

    /// The event of a revocation; nil if the token may still work.
    package init?(_ revocation: Revocation) {
        guard revocation.isDead else { return nil }
        self.init(.revoked, VaultEventDetails(revocation))
    }
}
