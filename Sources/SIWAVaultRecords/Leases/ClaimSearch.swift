internal import SIWADatabases
internal import SIWALifecycle

/// The progress of a run's claims.
struct ClaimRun: Sendable {
    /// The owner of the claims.
    let owner: String
    /// Whether records that others only check are free for it.
    let isRevoking: Bool
    /// The time of its first claim, by the database's clock in milliseconds.
    let start: Int
    /// The place where its next claim begins; nil for the first row. Each claim continues where the
    /// previous one ended, so that rows excluded by the filter are not read again.
    var place: ClaimPlace?
    /// Whether nothing was found since the first row. Otherwise another pass is needed at the end,
    /// because a row that was locked during this pass may be free now.
    var isWhole = true

    /// The end of a condition: or the record is, or was last, held by those that only check.
    fileprivate var orIsCheckers: String {
        isRevoking ? " OR lease_owner LIKE '\(Lease.checkPrefix)%'" : ""
    }
}

/// A place in the order of claims: by client, by state, and then by the time of the last change,
/// the oldest first.
struct ClaimPlace: Hashable, Sendable {
    let client: Value
    let state: VaultState
    /// The last row that was examined; nil before the first of the state.
    let turn: ClaimTurn?
}

/// The place of a row within its client and state.
struct ClaimTurn: Hashable, Sendable {
    let leaseUntil, userID: Value

    /// The values, in the order of an index.
    fileprivate var values: [Value] { [leaseUntil, userID] }
}

/// Searches for free records that the run has not held and that were not released since its start, or
/// only by those that check. It examines a limited number of rows.
struct ClaimSearch {
    /// The run, after the search.
    private(set) var run: ClaimRun
    /// The rows found: the columns of a record, and `lease_until`.
    private(set) var rows: [[Value]] = []
    /// Whether all rows were examined, and none is left for the run.
    private(set) var isComplete = false

    private let database: any Database
    private let filter: VaultFilter
    private let limit: Int
    private var (examined, length): (Int, Int)

    /// Searches from the run's place on.
    ///
    /// - Parameter limit: the number of records to find.
    init(
        _ database: any Database, _ filter: VaultFilter, _ limit: Int, for run: ClaimRun
    ) throws(DatabaseFailure) {
        (self.database, self.filter, self.limit, self.run) = (database, filter, limit, run)
        (examined, length) = (0, 2 * limit)
        if limit > 0 { try search() }
    }

    private mutating func search() throws(DatabaseFailure) {
        while true {
            run.place = try searchToTheEnd()
            guard rows.isEmpty else { return run.isWhole = run.place == nil }
            guard run.place == nil else { return }
            guard !run.isWhole else { return isComplete = true }
            run.isWhole = true
        }
    }

    /// - Returns: the place where it stopped, after finding enough or examining many rows; nil
    ///   after the last row.
    private mutating func searchToTheEnd() throws(DatabaseFailure) -> ClaimPlace? {
        var place = run.place
        var client = if let place { place.client } else { try nextClient(after: nil) }
        while let current = client {
            // The remaining states of the client where the run has stopped.
            for state in filter.allStates.drop(while: { place != nil && $0 != place?.state }) {
                if let stop = try search(current, state, after: place?.turn) { return stop }
                place = nil
            }
            place = nil
            client = try nextClient(after: current)
        }
        return nil
    }

    private func nextClient(after client: Value?) throws(DatabaseFailure) -> Value? {
        guard let only = filter.clientID else { return try database.nextClient(after: client) }
        return client == nil ? .text(only.rawValue) : nil
    }

    /// Searches the records of a client and a state, in the order of an index.
    ///
    /// - Returns: the place where it stopped; nil at the end.
    private mutating func search(
        _ client: Value, _ state: VaultState, after turn: ClaimTurn?
    ) throws(DatabaseFailure) -> ClaimPlace? {
        var last = turn
        while true {
            let stretch = try Stretch(after: last, length: length) {
                turn, number throws(DatabaseFailure) in
                try self.turn(number, after: turn, client, state)
            }
            let free = try free(client, state, stretch)
            rows += free
            guard rows.count < limit else {
                // Other tokens of the last user may follow at the same place.
                let turns = free.map { ClaimTurn(leaseUntil: $0[$0.count - 1], userID: $0[1]) }
                let before = turns.last { $0 != turns.last }
                return ClaimPlace(client: client, state: state, turn: before ?? last)
            }
            guard let end = stretch.end else { return nil }
            examined += length
            (last, length) = (end, min(2 * length, max(length, longestStretch)))
            if examined >= longestStretch {
                return ClaimPlace(client: client, state: state, turn: end)
            }
        }
    }

    /// The row at a distance after another, independent of the filter; nil if fewer rows are left.
    private func turn(
        _ number: Int, after turn: ClaimTurn?, _ client: Value, _ state: VaultState
    ) throws(DatabaseFailure) -> ClaimTurn? {
        var conditions = conditions(
            VaultFilter(), client, state, Stretch(after: turn, upTo: nil))
        let sql = """
            SELECT lease_until, user_id FROM vault_token \(conditions.sql)
            ORDER BY lease_until, user_id
            LIMIT 1 OFFSET \(conditions.add(.integer(number - 1)))
            """
        return try database.run(sql, conditions.values).first.map {
            ClaimTurn(leaseUntil: $0[0], userID: $0[1])
        }
    }

    private func free(
        _ client: Value, _ state: VaultState, _ stretch: Stretch<ClaimTurn>
    ) throws(DatabaseFailure) -> [[Value]] {
        var conditions = conditions(filter, client, state, stretch)
        let owner = conditions.add(.text(run.owner))
        conditions.add("(lease_owner IS NULL OR lease_owner <> \(owner))")
        // Otherwise, two runs would pass refused records back and forth. A check is no reason to leave
        // a token alive, and it passes on no record whose revocation has begun.
        let start = conditions.add(.integer(run.start))
        // Ignores release times in the future.
        conditions.add(
            """
            (given_back_at IS NULL OR given_back_at <= \(start)
                OR given_back_at > \(database.dialect.moment) + 86400000\(run.orIsCheckers))
            """)
        let sql = """
            SELECT \(VaultRecord.columns), lease_until FROM vault_token \(conditions.sql)
            ORDER BY lease_until, user_id
            LIMIT \(conditions.add(.integer(limit - rows.count)))
            \(database.dialect.skippingLockedRows)
            """
        return try database.run(sql, conditions.values)
    }

    /// Selects free records.
    private func conditions(
        _ filter: VaultFilter, _ client: Value, _ state: VaultState, _ stretch: Stretch<ClaimTurn>
    ) -> Conditions {
        var conditions = Conditions(filter, client, state)
        conditions.add(["lease_until", "user_id"], stretch.map { $0.values })
        // The plus prevents SQLite from using this condition as the end of the index range.
        let isOver = "\(stretch.end == nil ? "" : "+")lease_until <= \(database.dialect.now)"
        conditions.add("(\(isOver)\(run.orIsCheckers))")
        return conditions
    }
}
