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

    /// Selects the rows after a key.
    mutating func add(after key: VaultRowKey, of filter: VaultFilter) { add(">", key, filter) }

    /// Selects the rows up to a key, including it.
    mutating func add(upTo key: VaultRowKey, of filter: VaultFilter) { add("<=", key, filter) }

    private mutating func add(_ order: String, _ key: VaultRowKey, _ filter: VaultFilter) {
        let values = key.values
        // SQLite does not use the index for a row comparison whose first column has a fixed value.
        if let client = filter.clientID, Array(client.rawValue.utf8) == key.clientID {
            let (user, token) = (add(values[1]), add(values[2]))
            clauses.append("(user_id, token_fingerprint) \(order) (\(user), \(token))")
        } else {
            let (client, user, token) = (add(values[0]), add(values[1]), add(values[2]))
            clauses.append(
                "(client_id, user_id, token_fingerprint) \(order) (\(client), \(user), \(token))")
        }
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
