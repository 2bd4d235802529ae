import SignInWithApple
import Synchronization
import Testing

@testable import TokenVault

/// That no question reads more than its answer, as the databases themselves tell it.
@Suite struct QueryPlanTests {
    static let filters = [
        VaultFilter(), VaultFilter(states: [.dead]), VaultFilter(states: [.dead, .active]),
        VaultFilter(clientID: ClientID(unchecked: "one")),
        VaultFilter(clientID: ClientID(unchecked: "one"), states: [.active]),
        VaultFilter(
            states: [.active], notCheckedSince: NumericDate(5), notSealedWith: 4),
        VaultFilter(states: [.active], notCheckedSince: NumericDate(5), isNewestOnly: true),
    ]

    private static let place = VaultRowKey(VaultRecordID(.sample(1, of: "one"), .sample()))

    @Test(arguments: SQLGrounds.here)
    func `a page is read along an index`(_ grounds: SQLGrounds) async throws {
        for filter in Self.filters {
            let plans = try await plans(of: "SELECT", on: grounds.ground()) { store in
                _ = try store.records(filter, after: Self.place, limit: 5)
            }
            #expect(plans.count == max(1, filter.states.count))
            for plan in plans {
                #expect(plan.reads(from: ["vault_token_state", "PRIMARY KEY", "_pkey"]), "\(plan)")
                #expect(
                    plan.contains("token_fingerprint)>") || grounds != .sqlite,
                    "\(plan)")
            }
        }
    }

    @Test(arguments: SQLGrounds.here)
    func `a claim takes the first of an index`(_ grounds: SQLGrounds) async throws {
        for filter in Self.filters {
            let plans = try await plans(of: "SELECT", on: grounds.ground()) { store in
                _ = try store.claim(.long("a"), filter)
            }
            let claims = plans.filter { $0.contains("lease_until") || $0.contains("turn") }
            #expect(!claims.isEmpty)
            for plan in claims { #expect(plan.reads(from: ["vault_token_turn"]), "\(plan)") }
        }
    }

    @Test(arguments: SQLGrounds.here)
    func `what others hold is found at the end of an index`(_ grounds: SQLGrounds) async throws {
        let plans = try await plans(of: "SELECT", on: grounds.ground()) { store in
            _ = try store.leasedByOthers(
                than: "a", VaultFilter(clientID: ClientID(unchecked: "one"), states: [.active]))
        }
        #expect(plans.count == 1 && plans[0].reads(from: ["vault_token_turn"]), "\(plans)")
        #expect(plans[0].contains("lease_until"), "\(plans)")
    }

    static let histories = [
        (VaultHistoryFilter(), ["vault_history_time"]),
        (VaultHistoryFilter(since: NumericDate(5), until: NumericDate(9)), ["vault_history_time"]),
        (VaultHistoryFilter(events: [.dead]), ["vault_history_time"]),
        (
            VaultHistoryFilter(userID: UserID(unchecked: "u")),
            ["vault_history_user", "vault_history_new_user"]
        ),
        (
            VaultHistoryFilter(
                userID: UserID(unchecked: "u"), clientID: ClientID(unchecked: "one"),
                since: NumericDate(5), events: [.dead]),
            ["vault_history_user", "vault_history_new_user"]
        ),
    ]

    @Test(arguments: SQLGrounds.here)
    func `the history is read along an index`(_ grounds: SQLGrounds) async throws {
        for (filter, indexes) in Self.histories {
            let plans = try await plans(of: "SELECT", on: grounds.ground()) { store in
                _ = try store.history(
                    filter, after: VaultHistoryPosition(at: 5, number: 1), limit: 5)
            }
            #expect(plans.count == (filter.userID == nil ? 1 : 4))
            for plan in plans { #expect(plan.reads(from: indexes), "\(plan)") }
        }
    }

    @Test(arguments: SQLGrounds.here)
    func `no record takes more statements than it must`(_ grounds: SQLGrounds) async throws {
        let ground = try await grounds.ground()
        _ = try ground.vault()
        let place = WatchedPlace(place: try ground.place(patience: .seconds(60)))
        let store = SQLVaultStore(place)
        _ = try store.keyChecks()
        func statements(_ body: () throws -> Void) rethrows -> Int {
            place.seen.statements.withLock { $0 = [] }
            try body()
            return place.seen.statements.withLock { $0.count }
        }
        func cost(_ body: (Int) throws -> Void) rethrows -> Int {
            let few = try statements { try body(10) }
            // Which states a claim looks at first differs from run to run.
            return try (statements { try body(110) } - few + 50) / 100
        }
        var next = 0
        // A look for the records of the user, and the new one.
        let stored = try cost { count in
            try store.put((next..<(next + count)).map { VaultRecord(.sample($0)) })
            next += count
        }
        #expect(stored == 2)
        #expect(try cost { _ = try store.claim(.long("\($0)"), limit: $0) } == 1)
        let noted = try cost { count in
            _ = try store.claim(.long("x\(count)"), limit: 0)
            try store.change(VaultUser.samples(count), releasedBy: "\(count)") { user, record in
                record.map { .put($0.becoming($0.state == .dead ? .active : .dead)) } ?? .keep
            }
        }
        #expect(noted == 2)
    }

    @Test(arguments: SQLGrounds.here)
    func `a count sorts nothing`(_ grounds: SQLGrounds) async throws {
        let plans = try await plans(of: "SELECT", on: grounds.ground()) { store in
            _ = try store.counts(of: nil)
        }
        #expect(plans.count == 1 && plans[0].reads(from: ["vault_token_state"]), "\(plans)")
    }

    /// How the queries of `body` about records would be run in a vault with some.
    private func plans(
        of verb: String, on ground: any SQLGround, _ body: (any VaultStore) throws -> Void
    ) throws -> [String] {
        try ground.vault().putOfTwoKeys(Samples.population)
        let place = WatchedPlace(place: try ground.place(patience: .seconds(60)))
        let store = SQLVaultStore(place)
        _ = try store.keyChecks()
        place.seen.statements.withLock { $0 = [] }
        try body(store)
        let database = try place.place.connect(creating: false)
        return try place.seen.statements.withLock(\.self)
            .filter {
                $0.sql.hasPrefix(verb)
                    && ($0.sql.contains("vault_token") || $0.sql.contains("vault_history"))
            }
            .map { statement in
                try database.run(ground.explain + statement.sql, statement.values)
                    .flatMap { $0.compactMap(\.text) }.joined(separator: "\n")
            }
    }
}

extension String {
    /// Whether a plan uses one of these indexes, and neither reads everything nor sorts.
    fileprivate func reads(from indexes: [String]) -> Bool {
        indexes.contains(where: contains) && !contains("TEMP B-TREE") && !contains("Sort")
            && !contains("Seq Scan")
    }
}
