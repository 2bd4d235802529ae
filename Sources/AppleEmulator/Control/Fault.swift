internal import Lifecycle

/// Something that goes wrong on purpose, once or more often.
struct Fault: Sendable {
    /// The endpoint it waits for; nil means the next request, to any endpoint.
    let route: Route?
    /// What is answered instead of Apple's own answer; nil leaves that one.
    let page: Page?
    /// `error` in that answer, when it is an OAuth error.
    let error: String?
    /// Header fields that are added, or replace those of the same name.
    let fields: [HTTPField]
    let delay: Duration
    let cut: EmulatorReply.Cut?
    /// Whether Apple's state changes before the fault applies: a cut loses the answer to a
    /// request that was taken, while a 503 comes from an edge that never let it in.
    let reachesApple: Bool
    /// The percentage of requests it applies to, by chance.
    let percent: Int
    /// The number of requests it still applies to.
    var count: Int
    /// What names it while it waits.
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

/// The faults that wait, in the order they were queued.
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

    /// Removes the fault of that number; nil removes all.
    mutating func remove(_ number: Int?) {
        waiting.removeAll { number == nil || $0.number == number }
    }

    /// The fault for a request to `path`, whose count goes down by one.
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
    /// Apple's answer, or another one, with the header fields changed.
    func apply(to answer: Page) -> Page {
        var page = page ?? answer
        page.fields.removeAll { fields[$0.name] != nil }
        page.fields += fields
        return page
    }
}
