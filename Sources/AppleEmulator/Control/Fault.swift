internal import SignInWithApple

/// Something that goes wrong on purpose, once or more often.
struct Fault: Sendable {
    /// The endpoint it waits for; nil means whichever is asked next.
    let route: Route?
    /// What is answered instead of Apple's own answer; nil leaves that one.
    let page: Page?
    /// `error` in that answer, when it is an OAuth error.
    let error: String?
    /// Header fields that are added, or replace those of the same name.
    let fields: [HTTPField]
    let delay: Duration
    let cut: EmulatorReply.Cut?
    /// Whether Apple's state changes before the fault strikes: a cut loses the answer to a
    /// request that was taken, while a 503 comes from an edge that never let it in.
    let reachesApple: Bool
    /// How many of a hundred requests it strikes, by chance.
    let percent: Int
    /// How many requests it still strikes.
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
    private var chance = Chance()

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

    /// The fault that strikes a request to `path`; it is used up by one.
    mutating func next(for path: String) -> Fault? {
        guard
            let index = waiting.firstIndex(where: {
                ($0.route == nil || $0.route?.rawValue == path) && chance.favours($0.percent)
            })
        else { return nil }
        let fault = waiting[index]
        waiting[index].count -= 1
        if waiting[index].count == 0 { waiting.remove(at: index) }
        return fault
    }
}

/// Random numbers that are the same after every start, so that a run can be repeated.
private struct Chance: RandomNumberGenerator {
    private var state: UInt64 = 0

    /// True so many times in a hundred.
    mutating func favours(_ percent: Int) -> Bool {
        percent >= 100 || Int.random(in: 0..<100, using: &self) < percent
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014).
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
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
