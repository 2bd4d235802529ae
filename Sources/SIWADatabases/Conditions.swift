/// A WHERE clause and the values that it compares with, which are passed as parameters.
package struct Conditions {
    private var clauses: [String] = []
    package private(set) var values: [Value] = []

    /// Creates an empty clause.
    package init() {}

    /// Adds a value, and returns its placeholder.
    package mutating func add(_ value: Value) -> String {
        values.append(value)
        return "$\(values.count)"
    }

    /// Adds a comparison with a value.
    package mutating func add(_ comparison: String, _ value: Value) {
        clauses.append("\(comparison) \(add(value))")
    }

    /// Adds a condition.
    package mutating func add(_ clause: String) { clauses.append(clause) }

    /// Selects the rows of a stretch in the order of some columns.
    ///
    /// First columns in which both are equal are compared by themselves: at the end of a row
    /// comparison PostgreSQL reads on until its first column differs, and SQLite uses no index for
    /// one whose first column has a fixed value.
    package mutating func add(_ columns: [String], _ stretch: Stretch<[Value]>) {
        var columns = columns[...]
        var (start, end) = (stretch.start?[...], stretch.end?[...])
        while columns.count > 1, let first = columns.first, let value = start?.first,
            value == end?.first
        {
            add("\(first) =", value)
            (columns, start, end) = (columns.dropFirst(), start?.dropFirst(), end?.dropFirst())
        }
        if let start { add(columns, stretch.includesStart ? ">=" : ">", start) }
        if let end { add(columns, "<=", end) }
    }

    private mutating func add(
        _ columns: ArraySlice<String>, _ order: String, _ values: ArraySlice<Value>
    ) {
        let placeholders = values.map { add($0) }.joined(separator: ", ")
        clauses.append("(\(columns.joined(separator: ", "))) \(order) (\(placeholders))")
    }

    /// `WHERE …`, or empty.
    package var sql: String { clauses.isEmpty ? "" : "WHERE \(clauses.joined(separator: " AND "))" }
}
