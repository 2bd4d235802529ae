internal import JOSE
internal import Lifecycle

/// A WHERE clause and the values that it compares with, which are passed as parameters.
struct Conditions {
    private var clauses: [String] = []
    private(set) var values: [Value] = []

    /// Creates an empty clause.
    init() {}

    /// Selects records of one state, or of any state if `state` is nil.
    init(_ filter: VaultFilter, _ state: VaultState?) {
        if let client = filter.clientID { add("client_id =", .text(client.rawValue)) }
        if let state { add("state =", .text(state.rawValue)) }
        if let moment = filter.notCheckedSince {
            clauses.append("(checked_at IS NULL OR checked_at < \(add(.integer(moment.seconds))))")
        }
        if let moment = filter.changedBefore { add("changed_at <", .integer(moment.seconds)) }
        if let number = filter.notSealedWith {
            clauses.append("(key_number <> \(add(.integer(number))) OR token_fingerprint = '')")
        }
        if filter.isNewestOnly { addNewest(filter) }
    }

    /// Adds a value, and returns its placeholder.
    mutating func add(_ value: Value) -> String {
        values.append(value)
        return "$\(values.count)"
    }

    /// Adds a comparison with a value.
    mutating func add(_ comparison: String, _ value: Value) {
        clauses.append("\(comparison) \(add(value))")
    }

    /// Adds a condition.
    mutating func add(_ clause: String) { clauses.append(clause) }

    /// Selects the records of a stretch.
    mutating func add(_ stretch: Stretch<VaultRowKey>, of filter: VaultFilter) {
        let client = filter.clientID.map { Array($0.rawValue.utf8) }
        let ends = [stretch.start, stretch.end]
        // The filter compares the client.
        let first = ends.allSatisfy { $0 == nil || $0?.clientID == client } ? 1 : 0
        add(
            Array(["client_id", "user_id", "token_fingerprint"][first...]),
            stretch.map { Array($0.values[first...]) })
    }

    /// Selects the rows of a stretch in the order of some columns.
    ///
    /// First columns in which both are equal are compared by themselves: at the end of a row
    /// comparison PostgreSQL reads on until its first column differs, and SQLite uses no index for
    /// one whose first column has a fixed value.
    mutating func add(_ columns: [String], _ stretch: Stretch<[Value]>) {
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

    /// Selects the newest token of each user, if no other one was checked later.
    private mutating func addNewest(_ filter: VaultFilter) {
        let isNewer = """
            \(anyState(of: filter))(other.stored_at > vault_token.stored_at
                OR other.stored_at = vault_token.stored_at
                    AND other.token_fingerprint > vault_token.token_fingerprint)
            """
        let isChecked = filter.notCheckedSince.map {
            " OR other.checked_at >= \(add(.integer($0.seconds)))"
        }
        clauses.append(
            """
            NOT EXISTS (SELECT 1 FROM vault_token AS other
                WHERE other.client_id = vault_token.client_id
                    AND other.user_id = vault_token.user_id
                    AND (\(isNewer)\(isChecked ?? "")))
            """)
    }

    private mutating func anyState(of filter: VaultFilter) -> String {
        guard !filter.states.isEmpty else { return "" }
        let states = filter.states.map { add(.text($0.rawValue)) }
        return "other.state IN (\(states.joined(separator: ", "))) AND "
    }

    /// `WHERE …`, or empty.
    var sql: String { clauses.isEmpty ? "" : "WHERE \(clauses.joined(separator: " AND "))" }
}
