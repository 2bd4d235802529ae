package import SIWADatabases
internal import SIWALifecycle

/// What is wrong with a vault as a whole.
package struct VaultFault: Hashable, Sendable {
    /// A sentence without a full stop; with the statement that fixes it, if one does.
    package let text: String
    /// What to do; nil if only a backup helps.
    package let remedy: String?

    init(_ text: String, remedy: String? = nil) { (self.text, self.remedy) = (text, remedy) }
}

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

        /// The index of a table's key.
        private init(keyOf table: String, _ key: String, _ columns: String) {
            let isPrimary = key == "PRIMARY KEY"
            name = isPrimary ? "\(table)_pkey" : "\(table)_\(columns)_key"
            isTable = false
            sql = "ALTER TABLE \(table) ADD \(key) (\(columns))"
        }

        /// The indexes that a table's keys have in PostgreSQL, from which an administrator can drop them.
        var keys: [Object] {
            guard isTable else { return [] }
            var keys: [Object] = []
            // CREATE TABLE name ( column type …, column type … )
            let words = sql.split(separator: " ").dropFirst(4)
            var column = words.first ?? ""
            for (place, word) in zip(words.indices, words) {
                let key =
                    word == "PRIMARY" ? "PRIMARY KEY" : word.hasPrefix("UNIQUE") ? "UNIQUE" : nil
                if let key {
                    let list = words[place...].dropFirst(2)
                    let isList = key == "PRIMARY KEY" && list.first?.hasPrefix("(") == true
                    let end = list.firstIndex { $0.hasSuffix(")") } ?? place
                    let columns = isList ? list[...end].joined(separator: " ") : "(\(column))"
                    keys.append(Object(keyOf: name, key, String(columns.dropFirst().dropLast())))
                }
                if words[..<place].last?.hasSuffix(",") == true { column = word }
            }
            return keys
        }

        /// What is wrong if it is missing.
        ///
        /// - Parameter shell: runs SQL in the database.
        func absence(_ shell: String) -> VaultFault {
            guard !isTable else { return VaultFault("the table \(name) is missing") }
            return VaultFault(
                "the index \(name) is missing; this makes it again: \(sql)",
                remedy: """
                    nothing is lost: run the statement in the database (\(shell)), and look again
                    """)
        }
    }

    private func objects(_ dialect: Dialect) -> [Object] {
        let objects = ([creation] + migrations).flatMap { $0(dialect) }.compactMap(Object.init)
        return objects + (dialect.namesKeys ? objects.flatMap(\.keys) : [])
    }

    /// The tables and indexes that are missing.
    ///
    /// - Parameter isOptional: none of them may be there.
    package func absences(
        in database: any Database, isOptional: Bool = false
    ) throws(DatabaseFailure) -> [VaultFault] {
        let objects = objects(database.dialect)
        // Names of relations are unique, whatever they are.
        let sql = objects.map {
            "SELECT '\($0.name)' WHERE NOT EXISTS (\(database.dialect.tableExists($0.name)))"
        }.joined(separator: " UNION ALL ")
        let missing = Set(try database.run(sql).compactMap { $0.first?.text })
        guard !isOptional || missing.count < objects.count else { return [] }
        return objects.filter { missing.contains($0.name) }.map {
            $0.absence(database.shell)
        }
    }

    /// What the role of the connection may not do with the tables.
    ///
    /// - Parameter privileges: the needed ones, by SQL's names.
    package func refusals(
        of privileges: [String], in database: any Database
    ) throws(DatabaseFailure) -> [VaultFault] {
        let tables = objects(database.dialect).filter(\.isTable).map(\.name)
        guard let query = database.dialect.lackingPrivileges?(tables, privileges) else { return [] }
        let shell = database.shell
        return try database.run(query).map { row in
            let texts = row.map { $0.text ?? "" }
            return VaultFault(
                """
                the role \(texts[1]) has no privilege for \(texts[2]) on the table \(texts[0]); this gives \
                it: \(texts[3])
                """,
                remedy: """
                    run the GRANT statement in the database (\(shell)), and look again
                    """)
        }
    }

    /// Fails if a table or an index is missing, as in a database that was restored in part, or may
    /// not be used.
    package func requireWhole(in database: any Database) throws(DatabaseFailure) {
        let absences = try absences(in: database)
        // A missing table comes before an index: more is lost.
        let first = absences.filter { $0.remedy == nil }
        try Self.require(first + absences.filter { !first.contains($0) }, .damaged)
        let needed = ["SELECT", "INSERT", "UPDATE", "DELETE"]
        try Self.require(try refusals(of: needed, in: database), .unusable)
    }

    private static func require(
        _ faults: [VaultFault], _ kind: StoreError.Kind
    ) throws(DatabaseFailure) {
        guard let first = faults.first else { return }
        let more = faults.count > 1 ? "; and \(faults.count - 1) more" : ""
        throw DatabaseFailure(StoreError(kind, first.text + more, remedy: first.remedy))
    }
}
