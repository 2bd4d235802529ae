internal import SIWAApplication
internal import SIWACommandTable

/// The options that select a recipe and replace its names.
struct RecipeOptions: Sendable {
    @Required var recipe: RecipeArgument
    var dialect: ScriptDialect?
    var table: TableArgument?
    var idColumn: NameArgument?
    var providerColumn: NameArgument?
    var provider: ProviderArgument?
    var addressColumns: [ColumnArgument] = []
    var joins: [JoinArgument] = []
    var collection: NameArgument?

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        all.map { $0.rerooted(at: path) }
    }

    private static let all: [Parameter<Self>] = [
        .option("recipe", \.$recipe, value: "NAME", help: "What the application is made with."),
        .option(
            "dialect", \.dialect, value: "NAME",
            help: "The application's database; required unless the recipe has only one."),
        .option(
            "table", \.table, value: "T", help: "The table that has the user ids of Apple."),
        .option("id-column", \.idColumn, value: "C", help: "The column with the user id."),
        .option(
            "provider-column", \.providerColumn, value: "C",
            help: "The column that says which rows are Apple's; without one, all are."),
        .option(
            "provider", \.provider, value: "V",
            help: "The value of the provider column in Apple's rows (apple)."),
        .option(
            "email-column", \.addressColumns, value: "T.C",
            help: "A column with the address of the account; may repeat."),
        .option(
            "join", \.joins, value: "T.C=T.C",
            help: "How a table belongs to --table; the first one is that of the accounts."),
        .option(
            "collection", \.collection, value: "NAME",
            help: "The collection of PocketBase that has the users (users)."),
    ]

    /// The recipe with the names that the options replace.
    func resolved() throws -> (MigrationRecipe, ScriptDialect) {
        var recipe = recipe.recipe
        let dialect = try dialect(of: recipe)
        try useCollection(&recipe)
        recipe.table = table?.name ?? recipe.table
        recipe.idColumn = idColumn?.name ?? recipe.idColumn
        recipe.providerColumn = providerColumn?.name ?? recipe.providerColumn
        recipe.provider = provider?.value ?? recipe.provider
        guard !recipe.table.isEmpty, !recipe.idColumn.isEmpty else {
            throw UsageError.Problem.misuse(
                "the recipe \(recipe.name) needs --table and --id-column",
                hint: "name the table and the column that have the user ids of Apple")
        }
        try replaceJoins(&recipe)
        if !addressColumns.isEmpty { recipe.addressColumns = addressColumns.map(\.name) }
        for column in recipe.addressColumns
        where column.table != recipe.table
            && !recipe.joins.contains(where: { $0.table == column.table })
        {
            throw UsageError.Problem.misuse(
                "--email-column: nothing says how the table \(printable(column.table)) belongs to "
                    + printable(recipe.table),
                hint:
                    "add --join \(printable(recipe.table)).COLUMN=\(printable(column.table)).COLUMN"
            )
        }
        return (recipe, dialect)
    }

    private func dialect(of recipe: MigrationRecipe) throws -> ScriptDialect {
        let names = recipe.dialects.map(\.rawValue).joined(separator: ", ")
        guard let dialect = dialect ?? (recipe.dialects.count == 1 ? recipe.dialects.first : nil)
        else {
            throw UsageError.Problem.misuse(
                "the recipe \(recipe.name) needs --dialect", hint: "give one of: \(names)")
        }
        guard recipe.dialects.contains(dialect) else {
            throw UsageError.Problem.misuse(
                "the recipe \(recipe.name) is for \(names), not for \(dialect.rawValue)",
                hint: "leave --dialect out, or use --recipe custom")
        }
        return dialect
    }

    private func useCollection(_ recipe: inout MigrationRecipe) throws {
        guard let collection else { return }
        guard let group = recipe.membership, let join = recipe.joins.first,
            join.table == group.name
        else {
            throw UsageError.Problem.misuse(
                "--collection is for the recipe pocketbase",
                hint: "leave --collection out")
        }
        recipe.membership?.name = collection.name
        recipe.joins = [.init(column: join.column, table: collection.name, key: join.key)]
        recipe.addressColumns = recipe.addressColumns.map {
            ColumnName(table: collection.name, column: $0.column)
        }
    }

    /// Uses the joins of the command line. Copies in tables that are joined no more are dropped.
    private func replaceJoins(_ recipe: inout MigrationRecipe) throws {
        guard !joins.isEmpty else { return }
        let table = recipe.table
        recipe.joins = try joins.map { join in
            let sides = [join.left, join.right]
            guard let own = sides.first(where: { $0.table == table }),
                let other = sides.first(where: { $0.table != table })
            else {
                throw UsageError.Problem.misuse(
                    "--join needs a column of \(printable(table)) on one side, and another table on the other",
                    hint: "write --join \(printable(table)).COLUMN=TABLE.COLUMN")
            }
            return .init(column: own.column, table: other.table, key: other.column)
        }
        let joined = recipe.joins.map(\.table)
        recipe.idCopies = recipe.idCopies.filter { $0.table.map(joined.contains) ?? true }
        recipe.addressCopies = recipe.addressCopies.filter { $0.table.map(joined.contains) ?? true }
        if addressColumns.isEmpty {
            recipe.addressColumns = recipe.addressColumns.compactMap { column in
                // The recipe's only table of accounts may have another name.
                joined.contains(column.table) || joined.count != 1
                    ? column : ColumnName(table: joined[0], column: column.column)
            }
        }
    }
}

/// The name of a recipe.
struct RecipeArgument: ParameterValue {
    let recipe: MigrationRecipe

    init?(argument: String) {
        guard let recipe = MigrationRecipe.all.first(where: { $0.name == argument }) else {
            return nil
        }
        self.recipe = recipe
    }

    static var choices: [String] { MigrationRecipe.all.map(\.name) }

    var argumentDescription: String { recipe.name }
}

/// A name in a database: any characters that can be written in one line.
private func isName(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.utf8.count <= 128
        && text.unicodeScalars.allSatisfy { !$0.properties.isNewlineOrControl }
}

extension Unicode.Scalar.Properties {
    fileprivate var isNewlineOrControl: Bool {
        switch generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .format, .unassigned, .surrogate: true
        default: false
        }
    }
}

/// The name of a column or a collection.
struct NameArgument: ParameterValue, Hashable {
    let name: String

    init?(argument: String) {
        guard isName(argument) else { return nil }
        name = argument
    }

    static var expectation: String { "a name in the database" }

    var argumentDescription: String { name }
}

/// The value of a provider column.
struct ProviderArgument: ParameterValue, Hashable {
    let value: String

    init?(argument: String) {
        guard isName(argument) else { return nil }
        value = argument
    }

    static var expectation: String { "the name of a provider" }

    var argumentDescription: String { value }
}

/// `TABLE`, or `SCHEMA.TABLE`.
struct TableArgument: ParameterValue, Hashable {
    let name: String

    init?(argument: String) {
        let parts = argument.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy(isName) else { return nil }
        name = argument
    }

    static var expectation: String { "TABLE or SCHEMA.TABLE" }

    var argumentDescription: String { name }
}

/// `TABLE.COLUMN`, or `SCHEMA.TABLE.COLUMN`.
struct ColumnArgument: ParameterValue, Hashable {
    let name: ColumnName

    init?(argument: String) {
        guard let name = ColumnName(argument[...]) else { return nil }
        self.name = name
    }

    static var expectation: String { "TABLE.COLUMN" }

    var argumentDescription: String { "\(name.table).\(name.column)" }
}

/// `TABLE.COLUMN=TABLE.COLUMN`.
struct JoinArgument: ParameterValue, Hashable {
    let left: ColumnName
    let right: ColumnName

    init?(argument: String) {
        let sides = argument.split(separator: "=", omittingEmptySubsequences: false)
        guard sides.count == 2, let left = ColumnName(sides[0]), let right = ColumnName(sides[1])
        else { return nil }
        (self.left, self.right) = (left, right)
    }

    static var expectation: String { "TABLE.COLUMN=TABLE.COLUMN" }

    var argumentDescription: String {
        "\(left.table).\(left.column)=\(right.table).\(right.column)"
    }
}

extension ColumnName {
    fileprivate init?(_ text: Substring) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts.allSatisfy(isName), let last = parts.last else {
            return nil
        }
        self.init(table: parts.dropLast().joined(separator: "."), column: String(last))
    }
}
