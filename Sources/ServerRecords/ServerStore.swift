package import Lifecycle

/// Where the server keeps its inbox, outbox, journal and API tokens: tables in the vault's
/// database.
///
/// Every call is one transaction: when it returns, everything is on disk; when it throws, nothing
/// happened, or, if the database did not answer, the error says that this is unknown. Calls may
/// come from several threads, and block. Leases and ages run by the database's clock. What is read
/// is untrusted: rows that cannot be right are named and never stop the others.
package protocol ServerStore: Sendable {
    /// The vault's records, over the same connection.
    var vault: any VaultStore { get }

    /// Makes the tables, or updates them.
    ///
    /// - Parameter isAlone: no other process uses them: all leases end.
    /// - Throws: ``VaultError`` of kind `notInitialized` without a vault, `tooNew` if the tables
    ///   are of a newer version.
    func prepare(isAlone: Bool) throws(VaultError)

    /// Fails unless the database can be written and its tables are of this version.
    func check() throws(VaultError)

    // MARK: Inbox

    /// Keeps events and changes the vault's tokens in the same transaction. Many threads may call
    /// at once; see ``GroupCommit``.
    ///
    /// - Parameter decide: from the events that are new, and from all records of the users that
    ///   their notices name. It may be asked again, and must not call the store.
    func receive(
        _ events: [IncomingEvent],
        _ decide: ([IncomingEvent], VaultPage) throws(VaultError) -> VaultChanges
    ) throws(VaultError) -> InboxReceipt

    /// Keeps a payload that cannot be verified yet.
    ///
    /// - Parameter limit: how many are kept at most.
    func keep(
        _ notification: UnverifiedNotification, limit: Int
    ) throws(VaultError) -> UnverifiedNotification.Outcome

    /// Up to `limit` payloads that wait to be verified, in the order of their commits.
    func unverified(after position: Int, limit: Int) throws(VaultError) -> InboxPage

    /// Deletes or rejects payloads that wait to be verified. Genuine ones are received, which
    /// removes them.
    func settle(
        _ ids: [EventID], as verdict: UnverifiedNotification.Verdict
    ) throws(VaultError)

    /// Up to `limit` verified events in the order of their commits, after a position: none is ever
    /// committed before a position that was read.
    func events(after position: Int, limit: Int) throws(VaultError) -> InboxPage

    /// Up to `limit` events, the newest first, before a position.
    func inbox(
        _ filter: InboxFilter, before position: Int?, limit: Int
    ) throws(VaultError) -> InboxPage

    /// One event; an empty page if it does not exist.
    func inboxEvent(_ id: EventID) throws(VaultError) -> InboxPage

    /// Makes verified events pending again, their attempts counted from zero. Erased ones stay as
    /// they are.
    ///
    /// - Returns: those that are pending now.
    func replay(_ selection: InboxSelection) throws(VaultError) -> Set<EventID>

    /// Cancels deliveries.
    ///
    /// - Returns: the events that are discarded now.
    func discard(_ ids: [EventID]) throws(VaultError) -> Set<EventID>

    /// Erases the contents of all events of a user, and cancels their deliveries.
    ///
    /// - Returns: how many events were erased.
    func forget(_ userID: UserID) throws(VaultError) -> Int

    /// Deletes up to `limit` rows of each kind that are kept long enough: events, journal,
    /// revocations, hourly counts.
    ///
    /// - Returns: how many were deleted; fewer than `limit` if no more are left.
    func purge(_ retention: Retention, limit: Int) throws(VaultError) -> Int

    // MARK: Deliveries

    /// Claims up to `limit` events that are due: of each user the first that waits, unless it has
    /// been failing for ``DeliveryOutcome/hold``.
    func claimDeliveries(
        limit: Int, for lease: VaultLease
    ) throws(VaultError) -> DueDeliveries

    /// Extends leases; answers the events that the owner still holds.
    func renewDeliveries(_ ids: [EventID], for lease: VaultLease) throws(VaultError) -> Set<EventID>

    /// Notes what became of attempts, and ends their leases.
    func note(_ outcomes: [DeliveryOutcome], by owner: String) throws(VaultError)

    // MARK: Journal of codes

    /// Decides about a request; `send` leases the code to the owner.
    func begin(_ request: CodeRequest, for lease: VaultLease) throws(VaultError) -> CodeDecision

    /// Extends leases of codes that are being exchanged.
    func renew(_ codes: [CodeDigest], for lease: VaultLease) throws(VaultError)

    /// Notes what became of a code that this owner sent.
    func finish(
        _ code: CodeDigest, _ outcome: CodeOutcome, by owner: String
    ) throws(VaultError)

    /// A view of the vault that notes the outcome of an exchange in the transaction of its next
    /// change, which stores the token.
    func vault(
        finishing code: CodeDigest, _ outcome: CodeOutcome, by owner: String
    ) -> any VaultStore

    // MARK: Outbox

    /// Commits a request to revoke. Where a job for a token is under way, the request shares it.
    ///
    /// - Parameter jobs: their numbers are ignored.
    func add(_ request: RevocationRequest, _ jobs: [RevocationJob]) throws(VaultError)
        -> RevocationStatus

    /// A request by its id; nil if it does not exist.
    func revocation(_ id: String) throws(VaultError) -> RevocationStatus?

    /// Up to `limit` requests, the newest first.
    func revocations(
        _ states: [RevocationJob.State], limit: Int
    ) throws(VaultError) -> RevocationPage

    /// Tries the jobs of a request now: the pending ones, and the dead ones from the beginning.
    ///
    /// - Returns: nil if there is no such request.
    func retry(revocation id: String) throws(VaultError) -> RevocationStatus?

    /// Claims up to `limit` jobs that are due.
    ///
    /// - Parameter id: only jobs of this request.
    func claimRevocations(
        of id: String?, limit: Int, for lease: VaultLease
    ) throws(VaultError) -> DueRevocations

    /// Extends leases; answers the jobs that the owner still holds.
    func renewRevocations(_ numbers: [Int], for lease: VaultLease) throws(VaultError) -> Set<Int>

    /// Writes a claimed job as it is now.
    ///
    /// - Parameter delay: when it is tried next; nil to keep the lease.
    /// - Returns: false, without a change, if the owner does not hold the job any more.
    func note(
        _ job: RevocationJob, retryAfter delay: Duration?, by owner: String
    ) throws(VaultError) -> Bool

    // MARK: API tokens

    /// All tokens, by name.
    func apiTokens() throws(VaultError) -> [APIToken]

    /// Adds a token.
    ///
    /// - Returns: false if there is one of its name.
    func add(_ token: APIToken) throws(VaultError) -> Bool

    /// Removes a token.
    ///
    /// - Returns: false if no token has this name.
    func removeAPIToken(_ name: String) throws(VaultError) -> Bool

    // MARK: Counts

    /// What the database holds. Counts the vault's tokens if they were counted more than a minute
    /// ago, by any process.
    func counts() throws(VaultError) -> ServerCounts

    /// What happened in each of the last hours, the oldest first; hours without anything are
    /// missing.
    func activity(hours: Int) throws(VaultError) -> [HourlyActivity]
}
