/// The script of a plan: stages the pairs, and changes the application's tables in one transaction.
struct PlanScript: Sendable {
    let sql: PlanExpressions
    let count: Int
    let skipsConflicts: Bool
    let commits: Bool

    private var dialect: ScriptDialect { sql.dialect }

    /// What is before the pairs.
    var beginning: String {
        let comments = PlanComments(sql: sql)
        return dialect.firstLine + comments.text(of: count) + dialect.preamble + comments.schema
            + sql.create(
                "", .staging,
                [
                    ("n", .number), ("old_id", .text), ("new_id", .text), ("address", .text),
                    ("address_key", .text),
                ], keys: ["n", "old_id", "new_id", "address_key, n"])
            + sql.create(
                "_before", .kept, Self.values,
                keys: [
                    "place, record, old_value", "place, old_value, record",
                    "place, new_value, record",
                ])
            + workingTables(isBefore: true)
            + (dialect == .sqlite ? "BEGIN;\n" : "START TRANSACTION;\n")
    }

    /// The columns of values that change.
    static let values: [(String, ScriptDialect.ColumnType)] = [
        ("n", .number), ("place", .label), ("record", .text), ("old_value", .text),
        ("new_value", .text),
    ]

    /// One statement with many pairs.
    func insert(_ rows: [String]) -> String {
        "INSERT INTO \(sql.pairs) (n, old_id, new_id, address) VALUES\n"
            + rows.joined(separator: ",\n") + ";\n"
    }

    /// What is after the pairs.
    var end: String {
        """
        UPDATE \(sql.pairs) SET address_key = LOWER(address) WHERE address IS NOT NULL;
        COMMIT;
        \(dialect.analyze(sql.pairs))
        -- The transaction.
        \(dialect.begin(sql.recipe.tables))
        """ + workingTables(isBefore: false) + checks + counting + changing + verifying
            + "\n-- COMMIT in place of ROLLBACK is the only difference that --commit makes.\n"
            + (commits ? "COMMIT;\n" : "ROLLBACK;\n")
    }

    /// In MySQL, a transaction ends when a table is created.
    private func workingTables(isBefore: Bool) -> String {
        guard isBefore == (dialect == .mysql) else { return "" }
        return sql.create(
            "_states", .working,
            [("n", .number), ("state", .label), ("old_account", .text), ("new_account", .text)],
            keys: ["n"])
            + sql.create(
                "_counts", .working,
                [("moment", .label), ("position", .number), ("state", .label), ("pairs", .number)],
                keys: ["moment, position"])
            + sql.create(
                "_changes", .working, Self.values,
                keys: [
                    "place, record, old_value", "place, old_value, record",
                    "n, place, record, old_value",
                ])
            + sql.create(
                "_taken", .working, [("value", .text), ("source", .number)], keys: ["value, source"]
            )
    }

    private var checks: String {
        dialect.check(
            1, "the pairs were not loaded completely; nothing was changed",
            unless: "(SELECT COUNT(*) FROM \(sql.pairs)) <> \(count)") + engineCheck
    }

    /// MySQL has tables without transactions.
    private var engineCheck: String {
        guard dialect == .mysql else { return "" }
        let names = sql.recipe.tables.map { table in
            let parts = table.split(separator: ".").map { dialect.literal(String($0)) }
            let schema = parts.count > 1 ? parts[parts.count - 2] : "DATABASE()"
            return "(TABLE_SCHEMA = \(schema) AND TABLE_NAME = \(parts.last ?? "''"))"
        }
        return dialect.check(
            2, "a table is not stored by InnoDB, so it has no transactions; nothing was changed",
            unless: """
                EXISTS (SELECT 1 FROM information_schema.TABLES
                WHERE (\(names.joined(separator: " OR "))) AND ENGINE <> 'InnoDB')
                """)
    }
}

// States and counts.
extension PlanScript {
    private static let states = [
        "changed", "already_applied", "already_linked", "conflict", "absent",
    ]

    private var counting: String {
        """

        -- What the application has of each pair.
        \(stateRows)\(countRows("before"))
        SELECT state, pairs FROM \(sql.counts) WHERE moment = 'before' ORDER BY position;
        SELECT 'conflict' AS state, s.old_id, x.old_account, s.new_id, x.new_account
        FROM \(dialect.inOrder(["\(sql.states) x", "\(sql.pairs) s"]))
        WHERE x.state = 'conflict' AND s.n = x.n ORDER BY s.n;
        \(skipsConflicts ? "" : conflictCheck)
        """
    }

    private var conflictCheck: String {
        dialect.check(
            3,
            "conflicts: users have two accounts, listed above; nothing was changed. "
                + "Merge the accounts in the application, or make the script with --skip-conflicts",
            unless: "EXISTS (SELECT 1 FROM \(sql.states) WHERE state = 'conflict')")
    }

    private var stateRows: String {
        let account = sql.account() ?? dialect.null
        let found = [("old_id", 1), ("new_id", 0)].map { column, isOld in
            """
            SELECT s.n AS n, \(isOld) AS is_old, \(account) AS account
                FROM \(dialect.inOrder([sql.identities(), "\(sql.pairs) s"]))
                WHERE \((["\(sql.userID()) = s.\(column)"] + sql.isApples()).joined(separator: " AND "))
            """
        }
        return """
            DELETE FROM \(sql.states);
            INSERT INTO \(sql.states) (n, state, old_account, new_account)
            SELECT f.n,
                CASE WHEN MIN(f.is_old) = 1 THEN 'changed'
                    WHEN MAX(f.is_old) = 0 THEN 'already_applied'
                    WHEN COUNT(f.account) = COUNT(*) AND MIN(f.account) = MAX(f.account)
                        THEN 'already_linked'
                    ELSE 'conflict' END,
                MAX(CASE WHEN f.is_old = 1 THEN f.account END),
                MAX(CASE WHEN f.is_old = 0 THEN f.account END)
            FROM (
                \(found.joined(separator: "\n    UNION ALL "))
            ) f
            GROUP BY f.n;
            \(dialect.analyze(sql.states))
            """
    }

    private func countRows(_ moment: String) -> String {
        let names = Self.states.enumerated().map {
            "SELECT \($0.offset + 1) AS position, '\($0.element)' AS state"
        }
        return """
            INSERT INTO \(sql.counts) (moment, position, state, pairs)
            SELECT '\(moment)', k.position, k.state, COALESCE(c.pairs, 0)
            FROM (\(names.joined(separator: " UNION ALL "))) k
            LEFT JOIN (
                SELECT COALESCE(x.state, 'absent') AS state, COUNT(*) AS pairs
                FROM \(sql.pairs) s LEFT JOIN \(sql.states) x ON x.n = s.n
                GROUP BY COALESCE(x.state, 'absent')
            ) c ON c.state = k.state;
            """
    }

    private var verifying: String {
        """

        -- The same counts afterwards.
        \(stateRows)\(countRows("after"))
        SELECT a.state, b.pairs AS pairs_before, a.pairs AS pairs_after
        FROM \(sql.counts) a JOIN \(sql.counts) b ON b.position = a.position AND b.moment = 'before'
        WHERE a.moment = 'after' ORDER BY a.position;

        """
            + dialect.check(
                4, "the counts are not as expected; nothing was changed",
                unless: """
                    (SELECT COUNT(*) FROM \(sql.counts)) <> \(2 * Self.states.count) OR EXISTS (
                        SELECT 1 FROM \(sql.counts) a
                        JOIN \(sql.counts) b ON b.position = a.position AND b.moment = 'before'
                        JOIN \(sql.counts) c ON c.position = 1 AND c.moment = 'before'
                        WHERE a.moment = 'after' AND a.pairs <> CASE a.position WHEN 1 THEN 0
                            WHEN 2 THEN b.pairs + c.pairs ELSE b.pairs END)
                    """)
    }
}

// Changes.
extension PlanScript {
    private var changing: String {
        let places = sql.recipe.places
        return """

            -- The values that change, and a copy of them that stays.
            \(places.filter(\.value.isID).map(fill).joined())\(addresses(places))
            INSERT INTO \(sql.before) (n, place, record, old_value, new_value)
            SELECT c.n, c.place, c.record, c.old_value, c.new_value FROM \(sql.changes) c
            LEFT JOIN \(sql.before) b
                ON b.place = c.place AND b.record = c.record AND b.old_value = c.old_value
            WHERE b.n IS NULL;
            \(dialect.analyze(sql.changes))SELECT place, COUNT(*) AS values_to_change FROM \(sql.changes) GROUP BY place ORDER BY place;

            -- The changes.
            \(places.map { sql.update($0, from: "w.old_value", to: "w.new_value") }.joined())
            """
    }

    private func addresses(_ places: [MigrationPlace]) -> String {
        let columns = places.filter(\.value.isAddress)
        guard !columns.isEmpty else { return "" }
        let used = columns.enumerated().map { number, place in
            """
            INSERT INTO \(sql.taken) (value, source)
            SELECT DISTINCT s.address_key, \(number + 1)
            FROM \(dialect.inOrder(["\(sql.table(of: place)) \(place.alias)", "\(sql.pairs) s"]))
            WHERE \(dialect.lowered(sql.address(place))) = s.address_key;

            """
        }
        return used.joined()
            + """
            INSERT INTO \(sql.taken) (value, source)
            SELECT s.address_key, 0 FROM \(sql.pairs) s WHERE s.address_key IS NOT NULL
            GROUP BY s.address_key HAVING COUNT(*) > 1;

            """ + columns.map { fill($0) + dropRepeated($0) }.joined()
            + places.filter(\.value.isAddressCopy).map(fill).joined()
    }

    /// Adds the rows of a place to the values that change.
    ///
    /// A value that two pairs would change is left alone.
    private func fill(_ place: MigrationPlace) -> String {
        let record = sql.record(place, newID: "s.new_id")
        let isID = place.value.isID
        let old = isID ? "s.old_id" : sql.address(place)
        var tables = [sql.identities(), "\(sql.pairs) s", "\(sql.states) x"]
        var conditions = ["\(sql.userID()) = s.old_id"] + sql.isApples()
        conditions += ["x.n = s.n", "x.state = 'changed'"] + dialect.mayChange
        if place.value.isAddressCopy {
            tables.append(dialect.using("key_2", of: "\(sql.changes) c"))
        }
        if case .joined(let join) = place.row {
            tables.append("\(sql.table(of: place)) u")
            conditions.append("\(sql.column("u", join.key)) = \(sql.column("t", join.column))")
        }
        conditions += isID ? [sql.holds(place, "s.old_id")] : addressConditions(place)
        return """
            INSERT INTO \(sql.changes) (n, place, record, old_value, new_value)
            SELECT MIN(s.n), \(dialect.literal(place.name)), \(record), \(old), MIN(\(isID ? "s.new_id" : "s.address"))
            FROM \(dialect.inOrder(tables))
            WHERE \(conditions.joined(separator: "\n    AND "))
            GROUP BY \(record), \(old)
            HAVING MIN(s.n) = MAX(s.n);

            """
    }

    /// Leaves addresses alone of which two would become the same.
    private func dropRepeated(_ place: MigrationPlace) -> String {
        guard case .joined = place.row else { return "" }
        let name = dialect.literal(place.name)
        return """
            DELETE FROM \(sql.changes) WHERE place = \(name) AND new_value IN (
                SELECT d.new_value FROM (
                    SELECT new_value FROM \(sql.changes) WHERE place = \(name)
                    GROUP BY new_value HAVING COUNT(*) > 1
                ) d);

            """
    }

    private func addressConditions(_ place: MigrationPlace) -> [String] {
        let address = sql.address(place)
        let lowered = dialect.lowered(address)
        var conditions = ["s.address IS NOT NULL"]
        if place.value.isAddressCopy {
            let columns = sql.recipe.places.filter(\.value.isAddress)
            let names = columns.map { dialect.literal($0.name) }.joined(separator: ", ")
            return conditions + [
                "c.n = s.n", "c.place IN (\(names))", "LOWER(c.old_value) = \(lowered)",
            ]
        }
        let hosts = ["@privaterelay.appleid.com", "@private.icloud.com"]
        let isRelay = hosts.map { "\(lowered) LIKE \(dialect.literal("%" + $0))" }
        conditions += ["(\(isRelay.joined(separator: " OR ")))", "\(address) <> s.address"]
        if let own = sql.recipe.ownAddress {
            conditions.append("\(dialect.lowered(sql.member(own, "t"))) = \(lowered)")
        }
        return conditions + [
            "NOT EXISTS (SELECT 1 FROM \(sql.taken) k WHERE k.value = s.address_key)"
        ]
    }
}

extension MigrationPlace.Value {
    fileprivate var isID: Bool {
        switch self {
        case .identifier, .idCopy: true
        case .address, .addressCopy: false
        }
    }

    var isAddress: Bool { if case .address = self { true } else { false } }

    var isAddressCopy: Bool { if case .addressCopy = self { true } else { false } }
}
