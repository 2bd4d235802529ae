extension MigrationRecipe {
    /// python-social-auth (social-auth-app-django), with Django's own table of users.
    static let pythonSocialAuth = Self(
        name: "python-social-auth", table: "social_auth_usersocialauth", idColumn: "uid",
        providerColumn: "provider", provider: "apple-id",
        joins: [.init(column: "user_id", table: "auth_user", key: "id")],
        addressColumns: [ColumnName(table: "auth_user", column: "email")])
}
