internal import SIWAApplication
internal import SIWALifecycle
internal import SIWAServerRecords

/// Erases what is stored about a user.
struct UserEraser: Sendable {
    private let access: StoreAccess
    private let journal: CodeJournal
    private let events: RevocationEvents

    /// - Parameters:
    ///   - journal: stores answers about users, and tokens that could not be stored yet.
    ///   - events: what happens when a revocation ends because its user is erased.
    init(_ access: StoreAccess, _ journal: CodeJournal, events: RevocationEvents) {
        (self.access, self.journal, self.events) = (access, journal, events)
    }

    /// Erases a user.
    ///
    /// - Parameter evenIfLive: whether tokens that may still work are erased, too.
    /// - Throws: ``Diagnosis`` if nothing was erased.
    func erase(_ userID: UserID, evenIfLive: Bool) async throws(Diagnosis) {
        let outcome: UserErasure
        do throws(StoreError) {
            try await journal.writes.storeTokens(of: userID)
            let (answers, events) = (try await journal.codes(of: userID), events)
            outcome = try await access.run { store throws(StoreError) in
                try store.erase(
                    userID, evenIfLive: evenIfLive, answers: answers, events: events)
            }
        } catch {
            throw Diagnosis(error)
        }
        switch outcome {
        case .erased: return
        case .revocationPending: throw .revocationPending
        case .tokenMayWork: throw .tokenMayWork
        }
    }
}

extension Diagnosis {
    /// A revocation of the user's tokens is pending.
    fileprivate static var revocationPending: Diagnosis {
        var diagnosis = Diagnosis(
            .revocationPending, "a revocation of the user's tokens is pending",
            hints: ["erase the user after its end: GET /v1/revocations?user_id=… shows its state"],
            exitCode: .no, apiStatus: .conflict)
        diagnosis.retryAfter = .seconds(60)
        return diagnosis
    }

    /// A token of the user may still work.
    fileprivate static let tokenMayWork = Diagnosis(
        .tokenMayWork, "a token of the user may still work, and could not be revoked later",
        hints: [
            "revoke the user's tokens first: POST /v1/revoke",
            "to erase them nevertheless, add ?even_if_live=true",
        ], exitCode: .no, apiStatus: .conflict)
}
