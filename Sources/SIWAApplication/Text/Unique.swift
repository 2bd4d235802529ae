extension Sequence where Element: Hashable {
    /// Each element once, in the order of first occurrences.
    package var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
