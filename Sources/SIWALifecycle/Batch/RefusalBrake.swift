/// Decides when refusals are final: many at once are more likely caused by a wrong client or an
/// outage at Apple than by the items.
///
/// A pure value. A refusal is held until enough further answers have arrived. Held refusals are
/// dropped if the run stops; the next run sends their items again.
package struct RefusalBrake: Sendable {
    /// When refusals are final.
    package enum Rule: Hashable, Sendable {
        /// After 200 more answers, or at the end. The run stops when more than this share of the
        /// last 200 answers, in percent, are refusals, or at the end of all answers if they are 20
        /// to 199. 100 holds nothing back.
        case share(percent: Int)
        /// Once another item is done; the job decides when the run stops.
        case afterSuccess
    }

    /// What a run does after an answer.
    package enum Reaction: Hashable, Sendable {
        /// This number of held refusals, the oldest first, are final.
        case release(Int)
        /// The run stops.
        case stop
    }

    private let rule: Rule
    private var recent = RecentRefusals()
    /// The number of answers.
    private(set) var answers = 0
    /// The numbers of the answers that are held, the oldest first, from `released` on.
    private var heldSince: [Int] = []

    /// The number of answers that are examined, and for which a refusal is held.
    package static let window = RecentRefusals.window
    /// The fewest answers that can stop a run.
    package static let fewest = RecentRefusals.fewest

    /// Begins before the first answer.
    package init(_ rule: Rule) { self.rule = rule }

    /// The last answers that were examined, and how many of them are refusals.
    package var share: (refused: Int, of: Int) { recent.share }

    /// An item was done.
    package mutating func done() -> Reaction {
        switch rule {
        case .share(let percent): return take(false, percent)
        case .afterSuccess:
            defer { heldSince = [] }
            return .release(heldSince.count)
        }
    }

    /// An item was refused, and is held by the run.
    package mutating func refused() -> Reaction {
        heldSince.append(answers)
        switch rule {
        case .share(let percent): return take(true, percent)
        case .afterSuccess: return .release(0)
        }
    }

    /// There are no more answers.
    package mutating func end() -> Reaction {
        if case .share(let percent) = rule, recent.areMoreThan(percent: percent) { return .stop }
        defer { heldSince = [] }
        return .release(heldSince.count)
    }

    private mutating func take(_ isRefusal: Bool, _ percent: Int) -> Reaction {
        guard percent < 100 else {
            defer { heldSince = [] }
            return .release(heldSince.count)
        }
        recent.note(isRefusal)
        answers += 1
        if recent.share.of == Self.window, recent.areMoreThan(percent: percent) { return .stop }
        let believed = heldSince.prefix { $0 + Self.window < answers }.count
        heldSince.removeFirst(believed)
        return .release(believed)
    }
}
