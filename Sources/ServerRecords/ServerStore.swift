package import Lifecycle

/// The storage of the server's inbox, outbox, journal and API tokens: tables in the vault's
/// database.
///
/// Every call is one transaction: when it returns, everything is on disk; when it throws, nothing
/// changed, or, if the database did not answer, the error says that this is unknown. Calls block,
/// and may come from several threads. Leases and ages use the database's clock. Rows are untrusted:
/// invalid rows are reported and never stop the others.
package protocol ServerStore: Sendable {
    /// The vault's records, over the same connection.
    var vault: any VaultStore { get }

    /// Creates the tables, or updates them.
    ///
    /// - Parameter isAlone: no other process uses them: all leases end.
    /// - Throws: ``VaultError`` of kind `notInitialized` without a vault, `tooNew` if the tables
    ///   are of a newer version.
    func prepare(isAlone: Bool) throws(VaultError)

    /// Examines what ``prepare(isAlone:)`` would do, and changes nothing.
    ///
    /// - Throws: what it would throw.
    func examine() throws(VaultError) -> ServerTables

    /// Fails unless the database can be written and its tables are of this version.
    func check() throws(VaultError)

    // MARK: Servers

    /// Notes that a server is running, for the duration of ``ServerInstance/lease``.
    func beat(_ server: ServerInstance) throws(VaultError)

    /// Notes that a server has ended.
    func end(server id: String) throws(VaultError)

    // MARK: Inbox

    /// Stores events and changes the vault's tokens in the same transaction. Many threads may call
    /// at once; see ``GroupCommit``.
    ///
    /// - Parameter decide: computes the changes from the new events and all records of their users.
    ///   It may be called again, and must not call the store.
    func receive(
        _ events: [IncomingEvent],
        _ decide: ([IncomingEvent], VaultPage) throws(VaultError) -> VaultChanges
    ) throws(VaultError) -> InboxReceipt

    /// Stores a payload that cannot be verified yet.
    ///
    /// - Parameter limit: the maximum number of stored payloads.
    func keep(
        _ notification: UnverifiedNotification, limit: Int
    ) throws(VaultError) -> UnverifiedNotification.Outcome

    /// Returns up to `limit` payloads that wait to be verified, in the order of their commits.
    func unverified(after position: Int, limit: Int) throws(VaultError) -> InboxPage

    /// Deletes or rejects payloads that wait to be verified. Receiving a genuine one removes it.
    func settle(
        _ ids: [EventID], as verdict: UnverifiedNotification.Verdict
    ) throws(VaultError)

    /// Returns up to `limit` verified events after a cursor, in the order of their commits. No
    /// event is ever committed before a position that was read.
    ///
    /// - Parameter cursor: nil for the oldest events.
    func events(
        _ selection: EventSelection, after cursor: EventCursor?, limit: Int
    ) throws(VaultError) -> EventReading

    /// Returns the place of the newest event that a page would show.
    func newestEvent() throws(VaultError) -> EventCursor

    /// Returns up to `limit` events before a position, the newest first.
    func inbox(
        _ filter: InboxFilter, before position: Int?, limit: Int
    ) throws(VaultError) -> InboxPage

    /// Returns one event; an empty page if it does not exist.
    func inboxEvent(_ id: EventID) throws(VaultError) -> InboxPage

    /// Makes verified events pending again, with zero attempts. Erased events do not change.
    ///
    /// - Returns: the events that are pending now.
    func replay(_ selection: InboxSelection) throws(VaultError) -> Set<EventID>

    /// Cancels deliveries.
    ///
    /// - Returns: the events that are discarded now.
    func discard(_ ids: [EventID]) throws(VaultError) -> Set<EventID>

    /// Erases the contents of all events of a user, and cancels their deliveries.
    ///
    /// - Returns: the number of erased events.
    func forget(_ userID: UserID) throws(VaultError) -> Int

    /// Deletes up to `limit` rows of each kind whose retention is over: events, journal,
    /// revocations, hourly counts.
    ///
    /// - Returns: the number of deleted rows; less than `limit` if no more are left.
    func purge(_ retention: Retention, limit: Int) throws(VaultError) -> Int

    /// Makes work due now that waits longer than any wait may be: a clock was wrong when it was
    /// stored.
    func bringBackParked() throws(VaultError)

    // MARK: Deliveries

    /// Claims due events: only the first pending one of each user, unless that has been failing for
    /// ``DeliveryOutcome/hold``.
    func claimDeliveries(
        _ room: DeliveryRoom, for lease: VaultLease
    ) throws(VaultError) -> DueDeliveries

    /// Extends leases; returns the events that the owner still holds.
    func renewDeliveries(_ ids: [EventID], for lease: VaultLease) throws(VaultError) -> Set<EventID>

    /// Stores the outcomes of attempts, and ends their leases.
    func note(_ outcomes: [DeliveryOutcome], by owner: String) throws(VaultError)

    // MARK: Journal of codes

    /// Decides about a request; `send` leases the code to the owner.
    func begin(_ request: CodeRequest, for lease: VaultLease) throws(VaultError) -> CodeDecision

    /// Extends leases of codes that are being exchanged.
    func renew(_ codes: [CodeDigest], for lease: VaultLease) throws(VaultError)

    /// Stores the outcome of a code that this owner sent.
    func finish(
        _ code: CodeDigest, _ outcome: CodeOutcome, by owner: String
    ) throws(VaultError)

    /// Returns a view of the vault that stores the outcome of an exchange in the same transaction
    /// as its next change, which stores the token. That change is shown the events of the user that
    /// arrived before the token.
    ///
    /// - Parameter audiences: the `aud` of the notifications that concern the client.
    func vault(
        finishing code: CodeDigest, _ outcome: CodeOutcome, by owner: String,
        heeding audiences: [ClientID]
    ) -> any VaultStore

    /// Returns a view of the vault whose changes are shown the events of their users that arrived
    /// before.
    ///
    /// - Parameter audiences: the `aud` of the notifications that concern the users' client.
    func vault(heeding audiences: [ClientID]) -> any VaultStore

    /// Erases up to `limit` answers that are older than ``CodeEntry/replayed``. The entries remain.
    ///
    /// - Returns: the time until the next answer is to be erased; nil if none is stored.
    func eraseAnswers(limit: Int) throws(VaultError) -> Duration?

    /// Returns up to `limit` stored answers after a code, in the order of their codes.
    func keptAnswers(after code: CodeDigest?, limit: Int) throws(VaultError) -> [KeptAnswer]

    // MARK: Outbox

    /// Stores a request to revoke. It shares pending jobs of the same tokens. A job that waits for a
    /// profile (``RevocationJob/waitsForProfile``) also shares the token's last job if that is dead
    /// for this reason.
    ///
    /// - Parameter jobs: their numbers are ignored.
    func add(_ request: RevocationRequest, _ jobs: [RevocationJob]) throws(VaultError)
        -> RevocationStatus

    /// Notes that the caller of a pending request was told to poll it, so that its end becomes an
    /// event.
    ///
    /// - Returns: the current state of the request; nil if it does not exist.
    func promise(revocation id: String) throws(VaultError) -> RevocationStatus?

    /// Makes the pending jobs of these clients due that waited for a profile.
    func resumeRevocations(of clients: [ClientID]) throws(VaultError)

    /// Returns a request by its id; nil if it does not exist.
    func revocation(_ id: String) throws(VaultError) -> RevocationStatus?

    /// Returns up to `limit` requests, the newest first.
    ///
    /// - Parameter number: only requests before the one with this number.
    func revocations(
        _ filter: RevocationFilter, before number: Int?, limit: Int
    ) throws(VaultError) -> RevocationPage

    /// Makes the jobs of a request due now: pending ones, and dead ones with zero attempts.
    ///
    /// - Returns: nil if the request does not exist.
    func retry(revocation id: String) throws(VaultError) -> RevocationStatus?

    /// Claims up to `limit` due jobs.
    ///
    /// - Parameter id: only jobs of this request.
    func claimRevocations(
        of id: String?, limit: Int, for lease: VaultLease
    ) throws(VaultError) -> DueRevocations

    /// Extends leases; returns the jobs that the owner still holds.
    func renewRevocations(_ numbers: [Int], for lease: VaultLease) throws(VaultError) -> Set<Int>

    /// Stores the current state of a claimed job. If its code was exchanged for the token of
    /// another pending job, its requests wait for that job from then on.
    ///
    /// - Parameters:
    ///   - delay: the time until the next attempt; nil to keep the lease.
    ///   - events: what happens to the events of the requests that end.
    /// - Returns: whether the owner still holds the job; if not, it was not changed.
    func note(
        _ job: RevocationJob, retryAfter delay: Duration?, by owner: String,
        events: RevocationEvents
    ) throws(VaultError) -> Bool

    // MARK: Erasure

    /// Erases what is stored about a user, under all ids that the user has had: tokens, history,
    /// the contents of events, and the user id of ended revocations.
    ///
    /// - Parameters:
    ///   - evenIfLive: whether tokens that may still work are erased, too.
    ///   - answers: the codes whose stored answers are about the user.
    ///   - events: what happens to the events of revocations that end because of it.
    /// - Returns: whether the user was erased, or why not; then nothing was changed.
    func erase(
        _ userID: UserID, evenIfLive: Bool, answers: [CodeDigest], events: RevocationEvents
    ) throws(VaultError) -> UserErasure

    // MARK: API tokens

    /// Returns all tokens, by name.
    func apiTokens() throws(VaultError) -> APITokenPage

    /// Adds a token.
    ///
    /// - Returns: false if a token with this name exists.
    func add(_ token: APIToken) throws(VaultError) -> Bool

    /// Removes a token.
    ///
    /// - Returns: false if no token has this name.
    func removeAPIToken(_ name: String) throws(VaultError) -> Bool

    // MARK: Counts

    /// Returns the numbers of records. Counts the vault's tokens only if no process has counted
    /// them within the last minute.
    func counts() throws(VaultError) -> ServerCounts

    /// Returns the counts of each of the last hours, the oldest first; hours without events are
    /// missing.
    func activity(hours: Int) throws(VaultError) -> [HourlyActivity]
}

extension ServerStore {
    /// Stores the current state of a claimed job, without events.
    package func note(
        _ job: RevocationJob, retryAfter delay: Duration?, by owner: String
    ) throws(VaultError) -> Bool {
        try note(job, retryAfter: delay, by: owner, events: .off)
    }

    /// Returns up to `limit` requests in some states, or in any, the newest first.
    package func revocations(
        _ states: [RevocationJob.State], limit: Int
    ) throws(VaultError) -> RevocationPage {
        try revocations(RevocationFilter(states: states), before: nil, limit: limit)
    }
}
