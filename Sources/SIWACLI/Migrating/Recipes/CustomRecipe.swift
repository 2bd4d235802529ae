extension MigrationRecipe {
    /// Any other schema, such as that of Devise or Laravel Socialite; the names must be given.
    static let custom = Self(name: "custom")
}
