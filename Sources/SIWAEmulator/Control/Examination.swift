internal import SIWALifecycle

/// The checks of one request, in the order in which they are made.
///
/// An object, because functions that only read Apple's state also add checks.
final class Examination {
    private(set) var checks: [RequestCheck] = []
    /// The client of a request that does not name it.
    var clientID: ClientID?

    func passed(_ name: String, _ seen: String) {
        checks.append(RequestCheck(name: name, outcome: .passed, seen: seen))
    }

    func noted(_ name: String, _ seen: String) {
        checks.append(RequestCheck(name: name, outcome: .noted, seen: seen))
    }

    func failed(_ refusal: Refusal) {
        checks.append(RequestCheck(name: refusal.check, outcome: .failed, seen: refusal.fault))
    }
}
