/// A profile that signs with a private key.
package struct KeyUse: Sendable {
    private let profile: String
    private let fingerprint: String
    private let keyID: String

    /// - Parameters:
    ///   - profile: its name; empty for the client of the environment.
    ///   - fingerprint: identifies the key.
    package init(_ profile: String, _ fingerprint: String, keyID: String) {
        (self.profile, self.fingerprint, self.keyID) = (profile, fingerprint, keyID)
    }

    /// A sentence without a full stop for each key that has several Key IDs: Apple knows it by one of
    /// them.
    package static func faults(among uses: [KeyUse]) -> [String] {
        Dictionary(grouping: uses, by: \.fingerprint).values
            .filter { Set($0.map(\.keyID)).count > 1 }
            .map { $0.map { "profile \($0.profile) as \($0.keyID)" }.joined(separator: ", ") }
            .sorted()
            .map {
                "one key is in use under different Key IDs, and Apple refuses all but one: \($0)"
            }
    }

    /// What to do about one of ``faults(among:)``.
    package static let remedy = "give every Key ID its own key"
}
