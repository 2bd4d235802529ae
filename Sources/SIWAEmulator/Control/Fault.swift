internal import SIWALifecycle

/// A failure that was ordered, for one or more requests.
struct Fault: Sendable {
    /// The endpoint that it applies to; nil for every endpoint.
    let route: EmulatorRoute?
    /// The answer in place of Apple's; nil keeps Apple's answer.
    let page: Page?
    /// `error` in that answer, when it is an OAuth error.
    let error: String?
    /// Header fields that are added, or replace those of the same name.
    let fields: [HTTPField]
    let delay: Duration
    let cut: EmulatorReply.Cut?
    /// Whether Apple's state changes before the fault applies: a cut loses the answer to a request
    /// that was processed, while a 503 comes from an edge that did not forward it.
    let reachesApple: Bool
    /// The percentage of requests that it applies to, chosen at random.
    let percent: Int
    /// The number of requests it still applies to.
    var count: Int
    /// The number by which it can be removed.
    var number = 0

    /// What it does, for `GET /emulator/requests`.
    var summary: String {
        var parts: [String] = []
        if let page { parts.append("answered \(page.status) instead") }
        if !fields.isEmpty { parts.append("header fields changed") }
        if delay > .zero { parts.append("delayed by \(delay)") }
        if let cut { parts.append("cut: \(cut.rawValue)") }
        return parts.joined(separator: ", ")
    }
}

/// The queued faults, in their order.
struct FaultQueue {
    private(set) var waiting: [Fault] = []
    private var lastNumber = 0
    private var random = SplitMix64()

    var count: Int { waiting.reduce(0) { $0 + $1.count } }

    mutating func append(_ fault: Fault) {
        lastNumber += 1
        var fault = fault
        fault.number = lastNumber
        waiting.append(fault)
    }

    /// Removes the fault with that number; nil removes all.
    mutating func remove(_ number: Int?) {
        waiting.removeAll { number == nil || $0.number == number }
    }

    /// The fault for a request to `path`; its count is reduced by one.
    mutating func next(for path: String) -> Fault? {
        guard
            let index = waiting.firstIndex(where: {
                ($0.route == nil || $0.route?.rawValue == path)
                    && random.isBelow(percent: $0.percent)
            })
        else { return nil }
        let fault = waiting[index]
        waiting[index].count -= 1
        if waiting[index].count == 0 { waiting.remove(at: index) }
        return fault
    }
}

extension Fault {
    /// Apple's answer, or the one that replaces it, with the fault's header fields.
    func apply(to answer: Page) -> Page {
        var page = page ?? answer
        page.fields.removeAll { fields[$0.name] != nil }
        page.fields += fields
        return page
    }
}
