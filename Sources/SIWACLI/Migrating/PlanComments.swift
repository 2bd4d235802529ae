/// What the comments of a script say to whoever reads it before it runs.
struct PlanComments: Sendable {
    let sql: PlanExpressions

    private var recipe: MigrationRecipe { sql.recipe }

    /// The comment at the beginning of a plan.
    func text(of count: Int) -> String {
        comment(
            [
                "Moves \(count) \(count == 1 ? "user" : "users") of Sign in with Apple to the ids of an app's new team.",
                "Recipe \(recipe.name). It changes:",
            ] + recipe.places.map { "    \($0.name)" } + [
                "Run it with: \(sql.dialect.call)",
                "\(sql.pairs) receives the pairs of ids;",
                "\(sql.before) receives every value that changes, and stays.",
                "One transaction makes all changes or none. The last line of this file ends it.",
                "",
                "changed          the old id is stored, the new one is not: the new id replaces it",
                "already_applied  only the new id is stored",
                "already_linked   both ids belong to one account: nothing changes",
                "conflict         the ids belong to two accounts: nothing changes, and they are listed",
                "absent           neither id is stored",
            ])
    }

    /// The comment at the beginning of an inverse.
    var inverse: String {
        comment([
            "Restores what the plan changed, from \(sql.before).",
            "A value is restored only if it is still the one that the plan wrote, and only if the",
            "old one is not in use.",
            "Run it with: \(sql.dialect.call)",
            "One transaction makes all changes or none. The last line of this file ends it.",
        ])
    }

    private func comment(_ lines: [String]) -> String {
        lines.map { $0.isEmpty ? "--\n" : "-- \($0)\n" }.joined()
    }

    /// PostgreSQL keeps the tables of the script in a schema of their own, which nobody else can
    /// read.
    var schema: String {
        guard sql.dialect == .postgresql else { return "" }
        return """
            CREATE SCHEMA IF NOT EXISTS siwa_migration;
            REVOKE ALL ON SCHEMA siwa_migration FROM PUBLIC;

            """
    }
}
