/// How many of the items read are unusual, which decides whether those are sent: an input of
/// something else than tokens is mostly unusual. A pure value.
struct TokenShapes: Sendable {
    private(set) var read = 0
    private(set) var unusual = 0

    /// The number of items after which it is decided.
    static let sample = 100

    /// Counts an item.
    mutating func note(_ isUnusual: Bool) {
        read += 1
        if isUnusual { unusual += 1 }
    }

    /// Whether enough items were read.
    var isSampled: Bool { read >= Self.sample }

    /// Whether more than half of the items are unusual.
    var areMostlyUnusual: Bool { unusual * 2 > read }
}
