extension MigrationRecipe {
    /// Ory Kratos. Its addresses are traits of the identity, which belong to the user.
    static let kratos = Self(
        name: "kratos", table: "identity_credential_identifiers", idColumn: "identifier",
        isPrefixed: true,
        membership: Membership(
            column: "identity_credential_type_id", table: "identity_credential_types", key: "id",
            nameColumn: "name", name: "oidc"),
        joins: [
            .init(column: "identity_credential_id", table: "identity_credentials", key: "id")
        ],
        idCopies: [
            .init(
                table: "identity_credentials", column: "config",
                path: .listed(array: "providers", member: "subject"))
        ])
}
