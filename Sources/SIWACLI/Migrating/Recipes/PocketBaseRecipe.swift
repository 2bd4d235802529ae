extension MigrationRecipe {
    /// PocketBase 0.23 or newer, with its collection `users`.
    static let pocketBase = Self(
        name: "pocketbase", dialects: [.sqlite], table: "_externalAuths",
        idColumn: "providerId", providerColumn: "provider",
        membership: Membership(
            column: "collectionRef", table: "_collections", key: "id", nameColumn: "name",
            name: "users"),
        joins: [.init(column: "recordRef", table: "users", key: "id")],
        addressColumns: [ColumnName(table: "users", column: "email")])
}
