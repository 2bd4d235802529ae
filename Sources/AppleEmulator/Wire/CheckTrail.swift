/// One check that an endpoint made: what was looked at, and what was seen.
struct RequestCheck: Hashable, Sendable {
    /// The parameter or part of the request: `code`, `client_secret`.
    let name: String
    /// What was seen, as the rest of a sentence that begins with the name.
    let seen: String
    let isPassed: Bool

    /// A check that failed.
    init(failed name: String, _ seen: String) { self.init(name: name, seen: seen, isPassed: false) }

    init(name: String, seen: String, isPassed: Bool) {
        (self.name, self.seen, self.isPassed) = (name, seen, isPassed)
    }

    /// The check on one line, as the verdict of a refused request has it.
    var line: String { "\(name): \(seen)" }
}

/// The passed checks of one request, in the order in which they were made.
///
/// The failed check is not written here: it is the ``Refusal`` or ``Answer`` itself. A class,
/// because several values check one request; the request's form hands it on to them.
final class CheckTrail {
    private(set) var checks: [RequestCheck] = []

    /// Writes down a check that passed; at most 64 are kept.
    func passed(_ name: String, _ seen: String) {
        guard checks.count < 64 else { return }
        checks.append(RequestCheck(name: name, seen: seen, isPassed: true))
    }
}
