internal import SIWAApplication

/// A column, or a member of a JSON column, that a plan changes.
struct MigrationPlace: Sendable {
    /// Where the row is that has the place.
    enum Row: Sendable {
        /// The identity.
        case identity
        /// A row of another table that belongs to the identity.
        case joined(MigrationRecipe.TableJoin)
    }

    /// What is there.
    enum Value: Sendable {
        /// The user id of the identity.
        case identifier
        /// An address in a column.
        case address(String)
        /// A user id in a JSON column.
        case idCopy(MigrationRecipe.DocumentMember)
        /// An address in a JSON column.
        case addressCopy(MigrationRecipe.DocumentMember)
    }

    let row: Row
    let value: Value
    /// `auth.users.email`, `auth.identities.identity_data.sub`; unique.
    let name: String

    /// The alias of the table in statements.
    var alias: String { if case .joined = row { "u" } else { "t" } }
}

extension MigrationRecipe {
    /// The places of the recipe, in the order in which they are changed: the identity first, by
    /// whose new id its other places are found.
    var places: [MigrationPlace] {
        [place(in: table, .identifier, idColumn)]
            + idCopies.map { place(in: $0.table ?? table, .idCopy($0), $0.name) }
            + addressColumns.map { place(in: $0.table, .address($0.column), $0.column) }
            + ((ownAddress.map { [$0] } ?? []) + addressCopies).map {
                place(in: $0.table ?? table, .addressCopy($0), $0.name)
            }
    }

    /// The tables of the application that a plan reads or changes.
    var tables: [String] { ([table] + joins.map(\.table)).unique }

    private func place(
        in table: String, _ value: MigrationPlace.Value, _ name: String
    ) -> MigrationPlace {
        let join = joins.first { $0.table == table }
        return MigrationPlace(
            row: table == self.table ? .identity : join.map { .joined($0) } ?? .identity,
            value: value, name: "\(table).\(name)")
    }
}

extension MigrationRecipe.DocumentMember {
    fileprivate var name: String {
        switch path {
        case .member(let name): "\(column).\(name)"
        case .listed(let array, let member): "\(column).\(array)[].\(member)"
        }
    }
}
