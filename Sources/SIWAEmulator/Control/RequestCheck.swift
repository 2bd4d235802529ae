internal import SIWAJOSE

/// One thing that was examined in a request.
struct RequestCheck: Sendable, Hashable {
    /// The result of it.
    enum Outcome: String {
        case passed
        case failed
        /// Accepted, but Apple might refuse it, or the client might not intend it.
        case noted
    }

    /// The parameter, or another thing that was examined.
    let name: String
    let outcome: Outcome
    /// What was found.
    let seen: String

    var json: JSON {
        ["name": .string(name), "outcome": .string(outcome.rawValue), "seen": .string(seen)]
    }
}
