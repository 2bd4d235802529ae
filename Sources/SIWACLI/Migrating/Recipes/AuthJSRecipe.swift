extension MigrationRecipe {
    /// Auth.js (NextAuth), with the names of its SQL adapters.
    static let authJS = Self(
        name: "authjs", table: "accounts", idColumn: "providerAccountId",
        providerColumn: "provider",
        joins: [.init(column: "userId", table: "users", key: "id")],
        addressColumns: [ColumnName(table: "users", column: "email")])
}
