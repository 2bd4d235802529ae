package import Lifecycle

/// What an answer of Apple means for a record of the vault, and how it is known: one rule for single
/// commands and batches.
package struct NotedEvent: Sendable {
    /// What happened to the token.
    package let event: VaultEvent
    /// How it is known.
    package let details: VaultEventDetails

    private init(_ event: VaultEvent, _ details: VaultEventDetails) {
        (self.event, self.details) = (event, details)
    }

    /// What the answer to a refresh means; nil if it does not concern the token.
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

    /// What a revocation means; nil if the token may still work.
    package init?(_ revocation: Revocation) {
        guard revocation.isDead else { return nil }
        self.init(.revoked, VaultEventDetails(revocation))
    }
}
