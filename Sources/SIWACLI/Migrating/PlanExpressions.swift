/// The names and expressions of the scripts of one plan.
struct PlanExpressions: Sendable {
    let dialect: ScriptDialect
    let recipe: MigrationRecipe
    /// Distinguishes the tables of this plan from those of others.
    let digest: String

    private func own(_ name: String, _ purpose: ScriptDialect.Purpose) -> String {
        dialect.ownTable("siwa_migration_\(digest)" + name, purpose)
    }

    /// The pairs of ids, and the new addresses.
    var pairs: String { own("", .staging) }
    /// The values before the change.
    var before: String { own("_before", .kept) }
    /// What the application has of each pair.
    var states: String { own("_states", .working) }
    /// How many pairs have each state, before and after the change.
    var counts: String { own("_counts", .working) }
    /// The values that change.
    var changes: String { own("_changes", .working) }
    /// Ids and addresses that are in use.
    var taken: String { own("_taken", .working) }

    /// Creates a table of the plan, by the end of its name.
    func create(
        _ name: String, _ purpose: ScriptDialect.Purpose,
        _ columns: [(String, ScriptDialect.ColumnType)], keys: [String]
    ) -> String {
        dialect.create("siwa_migration_\(digest)" + name, purpose, columns, keys: keys)
    }

    /// A table of the application, with its alias.
    func identities(_ alias: String = "t") -> String { "\(dialect.table(recipe.table)) \(alias)" }

    func table(of place: MigrationPlace) -> String {
        switch place.row {
        case .identity: dialect.table(recipe.table)
        case .joined(let join): dialect.table(join.table)
        }
    }

    func column(_ alias: String, _ name: String) -> String { "\(alias).\(dialect.quoted(name))" }

    /// The prefix of user ids in the identity's column.
    private var prefix: String? { recipe.isPrefixed ? recipe.provider + ":" : nil }

    /// The user id of an identity.
    func userID(_ alias: String = "t") -> String {
        let value = dialect.text(column(alias, recipe.idColumn))
        guard let prefix else { return value }
        return dialect.text("SUBSTR(\(value), \(prefix.count + 1))")
    }

    /// Whether an identity is one at Apple.
    func isApples(_ alias: String = "t") -> [String] {
        var conditions: [String] = []
        if let name = recipe.providerColumn {
            conditions.append(
                "\(dialect.text(column(alias, name))) = \(dialect.literal(recipe.provider))")
        }
        if let prefix {
            let start =
                "SUBSTR(\(dialect.text(column(alias, recipe.idColumn))), 1, \(prefix.count))"
            conditions.append("\(dialect.text(start)) = \(dialect.literal(prefix))")
        }
        if let group = recipe.membership {
            conditions.append(
                "\(column(alias, group.column)) IN (SELECT \(column("m", group.key)) "
                    + "FROM \(dialect.table(group.table)) m "
                    + "WHERE \(column("m", group.nameColumn)) = \(dialect.literal(group.name)))")
        }
        return conditions
    }

    /// The account of an identity; nil if the schema has none besides the identity itself.
    func account(_ alias: String = "t") -> String? {
        recipe.joins.first.map { dialect.text(column(alias, $0.column)) }
    }

    /// What finds the row of a place again: its key, or the identity's new id.
    func record(_ place: MigrationPlace, newID: String) -> String {
        switch place.row {
        case .identity: newID
        case .joined(let join): dialect.text(column("u", join.key))
        }
    }

    /// Whether a place has a value.
    func holds(_ place: MigrationPlace, _ value: String) -> String {
        switch place.value {
        case .identifier: "\(userID()) = \(value)"
        case .address(let name): "\(dialect.text(column(place.alias, name))) = \(value)"
        case .idCopy(let member), .addressCopy(let member):
            dialect.document(
                column(place.alias, member.column), member.path, of: recipe.provider, has: value)
        }
    }

    func address(_ place: MigrationPlace) -> String {
        switch place.value {
        case .address(let name): dialect.text(column(place.alias, name))
        case .addressCopy(let member): self.member(member, place.alias)
        case .identifier, .idCopy: dialect.null
        }
    }

    /// The text of a member of a JSON column.
    func member(_ member: MigrationRecipe.DocumentMember, _ alias: String) -> String {
        guard case .member(let name) = member.path else { return dialect.null }
        return dialect.member(name, of: column(alias, member.column))
    }

    /// Changes a place from one column of `changes` to the other.
    func update(_ place: MigrationPlace, from old: String, to new: String) -> String {
        let (name, value): (String, String) =
            switch place.value {
            case .identifier:
                (recipe.idColumn, prefix.map { dialect.joined(dialect.literal($0), new) } ?? new)
            case .address(let name): (name, new)
            case .idCopy(let member), .addressCopy(let member):
                (
                    member.column,
                    dialect.document(
                        column(place.alias, member.column), member.path, of: recipe.provider,
                        from: old, to: new)
                )
            }
        var conditions = ["w.place = \(dialect.literal(place.name))"]
        switch (place.row, place.value) {
        case (.identity, .identifier): break
        case (.identity, _): conditions.append("\(userID()) = w.record")
        case (.joined, _): conditions.append("\(record(place, newID: "")) = w.record")
        }
        conditions.append(holds(place, old))
        if case .identity = place.row { conditions += isApples() }
        var index = "PRIMARY"
        if case .identifier = place.value { index = "key_1" }
        return dialect.update(
            table(of: place), place.alias, set: name, to: value, from: changes, by: index,
            where: conditions)
    }
}
