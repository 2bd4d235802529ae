internal import SignInWithApple

/// A WHERE and what follows it, with the values it compares with: they never become SQL.
struct Conditions {
    private var clauses: [String] = []
    private(set) var values: [Value] = []

    /// Chooses records of one state, or of any, as far as `filter` has no say in states.
    init(_ filter: VaultFilter, _ state: VaultState?) {
        if let client = filter.clientID { add("client_id =", .text(client.rawValue)) }
        if let state { add("state =", .text(state.rawValue)) }
        if let moment = filter.notCheckedSince {
            clauses.append("(checked_at IS NULL OR checked_at < \(add(.integer(moment.seconds))))")
        }
        if let number = filter.keyOtherThan { add("key_number <>", .integer(number)) }
    }

    /// Adds a value, and answers what stands for it.
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

    /// From behind `user` on, in the order of records.
    mutating func add(behind user: VaultUser, of filter: VaultFilter) {
        // SQLite finds no way into an index by a pair of which it knows the first half already.
        if filter.clientID == user.clientID {
            add("user_id >", user.values[1])
        } else {
            let (client, user) = (add(user.values[0]), add(user.values[1]))
            clauses.append("(client_id, user_id) > (\(client), \(user))")
        }
    }

    /// `WHERE …`, or nothing.
    var sql: String { clauses.isEmpty ? "" : "WHERE \(clauses.joined(separator: " AND "))" }
}
