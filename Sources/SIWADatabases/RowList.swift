/// Rows that a statement processes: all at once as arrays on PostgreSQL, one after the other on
/// SQLite.
package struct RowList {
    package let columns: [Column]
    package let rows: [[Value]]

    package init(columns: [Column], rows: [[Value]]) { (self.columns, self.rows) = (columns, rows) }

    /// A column of the rows.
    package struct Column {
        package let name: String
        package let type: Value.Element

        package static func text(_ name: String) -> Self { Self(name: name, type: .text) }
        package static func integer(_ name: String) -> Self { Self(name: name, type: .integer) }
        package static func bytes(_ name: String) -> Self { Self(name: name, type: .bytes) }
    }

    /// The expressions for a row in the text of a statement.
    package struct Words {
        fileprivate let columns: [Column]
        fileprivate let areArrays: Bool

        /// The value of a column.
        package subscript(_ name: String) -> String {
            guard !areArrays else { return "new_row.\(name)" }
            let index = columns.firstIndex { $0.name == name } ?? 0
            return "$\(index + 1)"
        }

        /// The source of the rows, after a word such as FROM; empty if there is one row.
        package func source(_ word: String) -> String { areArrays ? "\(word) \(rows)" : "" }

        /// Converts a query about one row to one about all rows, with results in their order. It is
        /// evaluated row by row, independent of the server's statistics.
        package func forEach(_ query: String) -> String {
            guard areArrays else { return query }
            return "SELECT found.* FROM \(rows) CROSS JOIN LATERAL (\(query)) AS found"
        }

        private var rows: String {
            let arrays = columns.indices.map { "$\($0 + 1)::\(columns[$0].type.rawValue)[]" }
            let names = columns.map(\.name).joined(separator: ", ")
            return "unnest(\(arrays.joined(separator: ", "))) AS new_row(\(names))"
        }
    }

    fileprivate var arrays: [Value] {
        columns.indices.map { column in
            .array(of: columns[column].type, rows.map { $0[column] })
        }
    }
}

extension Database {
    /// Runs a statement for each of several rows.
    ///
    /// - Parameter sql: its text.
    /// - Returns: the rows that it returned for all of them.
    package func run(
        for list: RowList, _ sql: (RowList.Words) -> String
    ) throws(DatabaseFailure) -> [[Value]] {
        guard !list.rows.isEmpty else { return [] }
        let text = sql(RowList.Words(columns: list.columns, areArrays: dialect.takesArrays))
        guard dialect.takesArrays else {
            return try run(text, each: list.rows).flatMap(\.self)
        }
        return try run(text, list.arrays)
    }
}
