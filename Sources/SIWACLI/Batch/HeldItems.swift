internal import SIWALifecycle

/// The unusual items of an input, which are held back, unsent, until the input shows whether it
/// consists of tokens. A pure value.
struct HeldItems<Item: NumberedItem>: Sendable {
    private var held: ArraySlice<Item> = []
    private(set) var shapes: TokenShapes
    private var isDecided: Bool

    /// - Parameters:
    ///   - holdsUnusual: false sends unusual items like others.
    ///   - shapes: those of the items with an earlier result.
    init(holdsUnusual: Bool, after shapes: TokenShapes) {
        (isDecided, self.shapes) = (!holdsUnusual, shapes)
    }

    /// Whether the run stops because most items are unusual.
    private(set) var isStopped = false

    /// Counts an item that has a result already.
    mutating func skip(_ item: Item) {
        shapes.note(item.isUnusual)
        decide()
    }

    /// Takes the next item of the input. Returns it if it can be sent at once.
    mutating func take(_ item: Item) -> Item? {
        shapes.note(item.isUnusual)
        defer { decide() }
        guard item.isUnusual, !isDecided else { return item }
        held.append(item)
        return nil
    }

    /// The next held item that can be sent.
    mutating func release() -> Item? { isDecided && !isStopped ? held.popFirst() : nil }

    /// Takes the end of the input.
    mutating func end() { decide(isAtEnd: true) }

    private mutating func decide(isAtEnd: Bool = false) {
        guard !isDecided, isAtEnd || shapes.isSampled else { return }
        isDecided = true
        isStopped = shapes.areMostlyUnusual
    }
}
