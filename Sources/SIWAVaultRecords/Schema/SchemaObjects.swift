package import SIWADatabases
internal import SIWALifecycle

// Which tables and indexes there must be.
extension Schema {
    /// A table or an index, and the statement that makes it.
    private struct Object {
        let name: String
        let isTable: Bool
        let sql: String

        /// Nil for a statement that makes nothing.
        init?(_ sql: String) {
            let words = sql.split { " \n".contains($0) }.map(String.init)
            guard words.first == "CREATE" else { return nil }
            let rest = words.dropFirst().filter { $0 != "UNIQUE" }
            guard let kind = rest.first, let name = rest.dropFirst().first else { return nil }
            (self.name, isTable) = (name, kind == "TABLE")
            self.sql = words.joined(separator: " ")
        }

        /// What is wrong if it is missing.
        var absence: String {
            isTable
                ? "the table \(name) is missing"
                : "the index \(name) is missing; this makes it again: \(sql)"
        }
    }

    private func objects(_ dialect: Dialect) -> [Object] {
        ([creation] + migrations).flatMap { $0(dialect) }.compactMap(Object.init)
    }

    /// What is wrong with the tables and indexes, a sentence for each that is missing.
    ///
    /// - Parameter isOptional: none of them may be there.
    package func absences(
        in database: any Database, isOptional: Bool = false
    ) throws(DatabaseFailure) -> [String] {
        let objects = objects(database.dialect)
        // Names of relations are unique, whatever they are.
        let sql = objects.map {
            "SELECT '\($0.name)' WHERE NOT EXISTS (\(database.dialect.tableExists($0.name)))"
        }.joined(separator: " UNION ALL ")
        let missing = Set(try database.run(sql).compactMap { $0.first?.text })
        guard !isOptional || missing.count < objects.count else { return [] }
        return objects.filter { missing.contains($0.name) }.map(\.absence)
    }

    private static let missingIndexRemedy = """
        nothing is lost: run the CREATE statement in the database as its owner (sudo -u siwa psql \
        DATABASE, or sudo -u siwa sqlite3 FILE), and look again
        """

    /// Fails if a table or an index is missing, as in a database that was restored in part.
    package func requireWhole(in database: any Database) throws(DatabaseFailure) {
        let absences = try absences(in: database)
        guard let first = absences.first else { return }
        let more = absences.count > 1 ? "; and \(absences.count - 1) more" : ""
        let isIndex = !absences.contains { $0.hasPrefix("the table ") }
        throw DatabaseFailure(
            StoreError(.damaged, first + more, remedy: isIndex ? Self.missingIndexRemedy : nil))
    }
}
