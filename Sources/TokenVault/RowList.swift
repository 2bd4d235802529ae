/// Rows that a statement processes: all at once as arrays on PostgreSQL, one after the other on
/// SQLite.
struct RowList {
    let columns: [Column]
    let rows: [[Value]]

    /// A column of the rows.
    struct Column {
        let name: String
        let type: Value.Element

        static func text(_ name: String) -> Self { Self(name: name, type: .text) }
        static func integer(_ name: String) -> Self { Self(name: name, type: .integer) }
        static func bytes(_ name: String) -> Self { Self(name: name, type: .bytes) }
    }

    /// The expressions for a row in the text of a statement.
    struct Words {
        fileprivate let columns: [Column]
        fileprivate let areArrays: Bool

        /// The value of a column.
        subscript(_ name: String) -> String {
            guard !areArrays else { return "new_row.\(name)" }
            let index = columns.firstIndex { $0.name == name } ?? 0
            return "$\(index + 1)"
        }

        /// The source of the rows, after a word such as FROM; empty if there is one row.
        func source(_ word: String) -> String { areArrays ? "\(word) \(rows)" : "" }

        /// Converts a query about one row to one about all rows, with results in their order. It is
        /// evaluated row by row, independent of the server's statistics.
        func forEach(_ query: String) -> String {
            guard areArrays else { return query }
            return "SELECT found.* FROM \(rows) CROSS JOIN LATERAL (\(query)) AS found"
        }

        private var rows: String {
            let arrays = columns.indices.map { "$\($0 + 1)::\(columns[$0].type.rawValue)[]" }
            let names = columns.map(\.name).joined(separator: ", ")
            return "unnest(\(arrays.joined(separator: ", "))) AS new_row(\(names))"
        }

        /// The condition that a row of `vault_token` has the client, user and fingerprint.
        var isTheSameToken: String {
            """
            vault_token.client_id = \(self["client_id"]) AND vault_token.user_id = \(self["user_id"])
                AND vault_token.token_fingerprint = \(self["token_fingerprint"])
            """
        }
    }

    /// The columns of a token's key.
    static let key = [Column.text("client_id"), .text("user_id"), .text("token_fingerprint")]

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
    func run(
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
