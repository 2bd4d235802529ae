internal import JOSE
internal import Lifecycle

/// One thing that was examined in a request.
struct Check: Sendable, Hashable {
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

/// The checks of one request, in the order in which they are made.
///
/// An object, because functions that only read Apple's state also add checks.
final class Examination {
    private(set) var checks: [Check] = []

    func passed(_ name: String, _ seen: String) {
        checks.append(Check(name: name, outcome: .passed, seen: seen))
    }

    func noted(_ name: String, _ seen: String) {
        checks.append(Check(name: name, outcome: .noted, seen: seen))
    }

    func failed(_ refusal: Refusal) {
        checks.append(Check(name: refusal.check, outcome: .failed, seen: refusal.fault))
    }
}
