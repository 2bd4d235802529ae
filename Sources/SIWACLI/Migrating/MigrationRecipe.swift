/// Where a kind of application stores Apple's user ids: its schema as data.
///
/// Names are those of the database, without quotation marks; a table may have a schema in front of
/// it (`auth.users`). The identity table has one row for each account at Apple.
struct MigrationRecipe: Sendable {
    /// The value of `--recipe`.
    let name: String
    /// The databases that applications of this kind use.
    var dialects = ScriptDialect.allCases
    /// The identity table; empty if it must be given.
    var table = ""
    /// The column with the user id; empty if it must be given.
    var idColumn = ""
    /// Whether the column has the provider and a colon in front of the id: `apple:001234.….0830`.
    var isPrefixed = false
    /// Nil if all rows are Apple's.
    var providerColumn: String?
    var provider = "apple"
    var membership: Membership?
    /// The tables that belong to an identity. The first one's column identifies the account.
    var joins: [TableJoin] = []
    /// Other places with the same user id.
    var idCopies: [DocumentMember] = []
    /// Columns with the address of an account.
    var addressColumns: [ColumnName] = []
    /// The provider's own copy of the address; an address that differs from it is the user's own.
    var ownAddress: DocumentMember?
    /// Other copies of the address, which change together with it.
    var addressCopies: [DocumentMember] = []
}

extension MigrationRecipe {
    /// A condition of the identity table: `column` has the `key` of the row of `table` whose
    /// `nameColumn` is `name`.
    struct Membership: Sendable {
        let column: String
        let table: String
        let key: String
        let nameColumn: String
        var name: String
    }

    /// A column of the identity table that has the value of a column of another table.
    struct TableJoin: Hashable, Sendable {
        let column: String
        let table: String
        let key: String
    }

    /// A text in a JSON column.
    struct DocumentMember: Hashable, Sendable {
        /// Nil for the identity table; otherwise a joined table.
        var table: String?
        let column: String
        let path: Path

        enum Path: Hashable, Sendable {
            /// A member of the object.
            case member(String)
            /// A member of the objects in an array whose `provider` is this recipe's.
            case listed(array: String, member: String)
        }
    }

    /// All recipes, in the order of the help.
    static let all = [
        supabase, betterAuth, authJS, djangoAllauth, pythonSocialAuth, kratos, pocketBase, custom,
    ]
}

/// A column of a table: `TABLE.COLUMN`, or `SCHEMA.TABLE.COLUMN`.
struct ColumnName: Hashable, Sendable {
    let table: String
    let column: String
}
