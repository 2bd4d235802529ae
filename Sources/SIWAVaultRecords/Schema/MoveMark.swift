package import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle

/// The mark of a vault that moves to another database. It is in the row of the vault's version,
/// which every transaction reads.
package struct MoveMark: Equatable {
    package let state: State
    /// The other database, without a password.
    package let place: String
    /// Identifies this move in both databases.
    package let id: String

    package enum State: String {
        /// This is the target, and incomplete.
        case copying
        /// This is the source, and being copied.
        case moving
        /// This is the source, and the target is complete.
        case moved
    }

    /// The columns of ``init(_:_:)``, after the version.
    package static let columns = "state, place, move_id"
    /// The number of these columns.
    static let count = 3

    /// Reads the columns; nil without a mark.
    ///
    /// - Parameter name: the name of the database.
    package init?(_ row: ArraySlice<Value>, _ name: String) throws(DatabaseFailure) {
        let texts = row.map { $0.text?.withoutControls.clipped(to: 500) ?? "" }
        guard row.first != .null, let first = texts.first else { return nil }
        guard let state = State(rawValue: first), texts.count == Self.count else {
            throw DatabaseFailure(
                .damaged, "the vault in \(name) has an unknown mark in vault_schema.state")
        }
        (self.state, place, id) = (state, texts[1], texts[2])
    }

    package init(_ state: State, place: String, id: String) {
        (self.state, self.place, self.id) = (state, place, id)
    }

    /// Fails if the mark forbids a transaction.
    package func check(_ access: Access, _ name: String) throws(DatabaseFailure) {
        switch state {
        case .copying:
            throw DatabaseFailure(
                .copyIncomplete, "the vault in \(name) is an incomplete copy of \(place)")
        case .moving where access == .writing:
            throw DatabaseFailure(.moving, "the vault in \(name) is being moved to \(place)")
        case .moved where access == .writing:
            throw DatabaseFailure(.moved, "the vault in \(name) was moved to \(place)")
        case .moving, .moved: break
        }
    }
}

extension Database {
    /// The mark of the vault; nil without one.
    package func mark(_ name: String) throws(DatabaseFailure) -> MoveMark? {
        let row = try run("SELECT \(MoveMark.columns) FROM vault_schema").first ?? [.null]
        return try MoveMark(row[...], name)
    }

    /// Waits for all transactions that have read the mark, and lets others wait until this
    /// transaction ends.
    package func lockMark() throws(DatabaseFailure) {
        if let lock = dialect.lockTable { _ = try run(lock("vault_schema")) }
    }

    /// Changes the mark.
    package func set(_ mark: MoveMark?) throws(DatabaseFailure) {
        _ = try run(
            "UPDATE vault_schema SET state = $1, place = $2, move_id = $3",
            Value(mark?.state.rawValue), Value(mark?.place), Value(mark?.id))
    }
}
