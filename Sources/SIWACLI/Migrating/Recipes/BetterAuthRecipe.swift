extension MigrationRecipe {
    /// Better Auth, with the names of its core schema.
    static let betterAuth = Self(
        name: "better-auth", table: "account", idColumn: "accountId",
        providerColumn: "providerId",
        joins: [.init(column: "userId", table: "user", key: "id")],
        addressColumns: [ColumnName(table: "user", column: "email")])
}
