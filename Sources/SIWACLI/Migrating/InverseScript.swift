/// The script that restores what a plan changed.
struct InverseScript: Sendable {
    let sql: PlanExpressions
    let commits: Bool

    private var dialect: ScriptDialect { sql.dialect }

    /// The whole script.
    var text: String {
        let places = sql.recipe.places
        let begin = "\n-- The transaction.\n" + dialect.begin(sql.recipe.tables)
        let tables = workingTables
        return dialect.firstLine + PlanComments(sql: sql).inverse + dialect.preamble
            + (dialect == .mysql ? tables + begin : begin + tables)
            + dialect.check(
                1, "nothing was recorded, so there is nothing to restore",
                unless: "NOT EXISTS (SELECT 1 FROM \(sql.before))")
            + "\n-- The values that are restored, and those that are recorded.\n"
            + places.enumerated().map { taken($0.element, $0.offset) }.joined()
            + places.enumerated().map { fill($0.element, $0.offset) }.joined()
            + dialect.analyze(sql.changes) + summary + "\n-- The changes.\n"
            + places.reversed().map { sql.update($0, from: "w.new_value", to: "w.old_value") }
            .joined() + check + (commits ? "COMMIT;\n" : "ROLLBACK;\n")
    }

    private var workingTables: String {
        sql.create(
            "_changes", .working, PlanScript.values,
            keys: [
                "place, record, old_value", "place, new_value, record",
                "n, place, record, old_value",
            ])
            + sql.create(
                "_taken", .working, [("value", .text), ("source", .number)],
                keys: ["value, source"])
    }

    /// Finds the old values of a place that are in use again.
    private func taken(_ place: MigrationPlace, _ number: Int) -> String {
        let value: String
        var conditions = ["b.place = \(dialect.literal(place.name))"]
        switch place.value {
        case .identifier:
            value = sql.userID()
            conditions += sql.isApples()
        case .address: value = sql.address(place)
        case .idCopy, .addressCopy: return ""
        }
        return """
            INSERT INTO \(sql.taken) (value, source)
            SELECT DISTINCT b.old_value, \(number)
            FROM \(dialect.inOrder(["\(sql.table(of: place)) \(place.alias)", dialect.using("key_1", of: "\(sql.before) b")]))
            WHERE \((["b.old_value = \(value)"] + conditions).joined(separator: " AND "));

            """
    }

    private func fill(_ place: MigrationPlace, _ number: Int) -> String {
        var tables = [
            "\(sql.table(of: place)) \(place.alias)",
            dialect.using("PRIMARY", of: "\(sql.before) b"),
        ]
        var conditions = ["b.place = \(dialect.literal(place.name))"] + dialect.mayChange
        switch place.row {
        case .identity: conditions += ["b.record = \(sql.userID())"] + sql.isApples()
        case .joined: conditions.append("b.record = \(sql.record(place, newID: ""))")
        }
        conditions.append(sql.holds(place, "b.new_value"))
        // Only of users whose id is restored.
        if number > 0 {
            tables.append(dialect.using("key_2", of: "\(sql.changes) c"))
            let first = sql.recipe.places.first?.name ?? ""
            conditions += ["c.n = b.n", "c.place = \(dialect.literal(first))"]
        }
        conditions.append(
            "NOT EXISTS (SELECT 1 FROM \(sql.taken) k "
                + "WHERE k.value = b.old_value AND k.source = \(number))")
        return """
            INSERT INTO \(sql.changes) (n, place, record, old_value, new_value)
            SELECT DISTINCT b.n, b.place, b.record, b.old_value, b.new_value
            FROM \(dialect.inOrder(tables))
            WHERE \(conditions.joined(separator: "\n    AND "));

            """
    }

    private var summary: String {
        """
        SELECT b.place, COUNT(*) AS recorded, COUNT(c.n) AS to_restore
        FROM \(sql.before) b LEFT JOIN \(sql.changes) c
            ON c.place = b.place AND c.record = b.record AND c.old_value = b.old_value
        GROUP BY b.place ORDER BY b.place;

        """
    }

    /// Whether every id was restored.
    private var check: String {
        let place = dialect.literal(sql.recipe.places.first?.name ?? "")
        let source = dialect.inOrder([
            sql.identities(), dialect.using("key_1", of: "\(sql.changes) c"),
        ])
        let conditions = ["c.place = \(place)", "c.new_value = \(sql.userID())"] + sql.isApples()
        return dialect.check(
            2, "ids were not restored; nothing was changed",
            unless:
                "EXISTS (SELECT 1 FROM \(source) WHERE \(conditions.joined(separator: " AND ")))")
    }
}
