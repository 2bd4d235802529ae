/// One way to make an identity token wrong.
package struct BadToken: Sendable {
    /// The id of the check.
    package let id: String
    /// What is wrong with it.
    package let comment: String
    /// Whether it is sent without `--exhaustive`.
    package let isRepresentative: Bool
    /// Makes the token.
    package let make: @Sendable (GoodSignIn) throws -> String

    package init(
        _ id: String, _ comment: String, isRepresentative: Bool = true,
        _ make: @escaping @Sendable (GoodSignIn) throws -> String
    ) {
        (self.id, self.comment, self.isRepresentative, self.make) =
            (id, comment, isRepresentative, make)
    }

    /// Every bad token, in the order of the catalogue.
    package static let all =
        unsigned + confused + foreignKeys + changedBytes + audiences + issuers + times + nonces
        + otherTokens + shapes
}
