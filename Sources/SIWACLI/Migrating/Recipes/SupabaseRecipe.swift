extension MigrationRecipe {
    /// Supabase Auth. `auth.identities.email` is generated from `identity_data`.
    static let supabase = Self(
        name: "supabase", dialects: [.postgresql], table: "auth.identities",
        idColumn: "provider_id", providerColumn: "provider",
        joins: [.init(column: "user_id", table: "auth.users", key: "id")],
        idCopies: [
            .init(column: "identity_data", path: .member("sub")),
            .init(column: "identity_data", path: .member("provider_id")),
            .init(table: "auth.users", column: "raw_user_meta_data", path: .member("sub")),
            .init(table: "auth.users", column: "raw_user_meta_data", path: .member("provider_id")),
        ],
        addressColumns: [ColumnName(table: "auth.users", column: "email")],
        ownAddress: .init(column: "identity_data", path: .member("email")),
        addressCopies: [
            .init(table: "auth.users", column: "raw_user_meta_data", path: .member("email"))
        ])
}
