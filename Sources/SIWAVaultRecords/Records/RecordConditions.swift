internal import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle

extension Conditions {
    /// Selects records of one state, or of any state if `state` is nil.
    init(_ filter: VaultFilter, _ state: VaultState?) {
        self.init()
        if let client = filter.clientID { add("client_id =", .text(client.rawValue)) }
        if let state { add("state =", .text(state.rawValue)) }
        if let moment = filter.notCheckedSince {
            add("(checked_at IS NULL OR checked_at < \(add(.integer(moment.seconds))))")
        }
        if let moment = filter.changedBefore { add("changed_at <", .integer(moment.seconds)) }
        if let number = filter.notSealedWith {
            add("key_number <>", .integer(number))
        }
        if filter.isNewestOnly { addNewest(filter) }
    }

    /// Selects the records of a client and a state that match the rest of a filter.
    init(_ filter: VaultFilter, _ client: Value, _ state: VaultState) {
        var rest = filter
        rest.clientID = nil
        self.init(rest, state)
        add("client_id =", client)
    }

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
        add(
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
}
