import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

@Suite struct VaultRecordTests {
    private let stored = NumericDate(1_800_000_000)

    private func record(_ state: VaultState) throws -> VaultRecord {
        let user = VaultUser(ClientID(unchecked: "c"), UserID(unchecked: "u"))
        return VaultRecord(
            id: VaultRecordID(user, try #require(TokenFingerprint("0123456789ab"))), state: state,
            keyNumber: 1, sealed: [], storedAt: stored, changedAt: stored)
    }

    @Test(
        arguments: [
            (VaultEvent.issued, "active active active active active active"),
            (.revocationBegun, "revoking revoking revoking revoking revoking revoking"),
            (.revoked, "active revoked revoked dead consent_revoked account_deleted"),
            (.refreshed, "active revoking revoked active consent_revoked account_deleted"),
            (.refreshRefused, "dead revoking revoked dead consent_revoked account_deleted"),
            (
                .consentRevoked(at: NumericDate(1_800_000_001)),
                "consent_revoked revoking revoked consent_revoked consent_revoked account_deleted"
            ),
            (
                .consentRevoked(at: NumericDate(1_800_000_000)),
                "active revoking revoked dead consent_revoked account_deleted"
            ),
            (
                .accountDeleted(at: NumericDate(1_800_000_001)),
                "account_deleted account_deleted revoked account_deleted account_deleted "
                    + "account_deleted"
            ),
            (
                .accountDeleted(at: NumericDate(1_800_000_000)),
                "active revoking revoked dead consent_revoked account_deleted"
            ),
        ])
    func `every event changes every state as the table says`(
        _ event: VaultEvent, _ states: String
    ) throws {
        let now = stored + .seconds(100)
        let after = try VaultState.allCases.map { try record($0).after(event, at: now) }
        #expect(after.map(\.state.rawValue).joined(separator: " ") == states)
        for (before, after) in zip(VaultState.allCases, after) {
            #expect(after.changedAt == (after.state == before ? stored : now))
            let isCheck = [.refreshed, .refreshRefused].contains(event)
            #expect(after.checkedAt == (isCheck ? now : nil))
        }
    }

    /// This machine's clock may be ahead of Apple's when it stores a token.
    @Test func `the time of a sign-in is the identity token's, if known`() throws {
        var record = try record(.active)
        record.signedInAt = stored - .seconds(10)
        let event = VaultEvent.accountDeleted(at: stored - .seconds(9))
        #expect(record.after(event, at: stored).state == .accountDeleted)
        record.signedInAt = stored - .seconds(9)
        #expect(record.after(event, at: stored).state == .active)
    }
}
