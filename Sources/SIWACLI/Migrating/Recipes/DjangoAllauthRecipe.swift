extension MigrationRecipe {
    /// django-allauth, with Django's own table of users.
    static let djangoAllauth = Self(
        name: "django-allauth", table: "socialaccount_socialaccount", idColumn: "uid",
        providerColumn: "provider",
        joins: [
            .init(column: "user_id", table: "auth_user", key: "id"),
            .init(column: "user_id", table: "account_emailaddress", key: "user_id"),
        ],
        idCopies: [.init(column: "extra_data", path: .member("sub"))],
        addressColumns: [
            ColumnName(table: "auth_user", column: "email"),
            ColumnName(table: "account_emailaddress", column: "email"),
        ],
        ownAddress: .init(column: "extra_data", path: .member("email")))
}
