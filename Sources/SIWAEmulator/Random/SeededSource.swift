/// Where the random numbers of the emulator come from: the system, or a seed, with which everything
/// generated is the same at every start.
package struct SeededSource: Sendable {
    private let seed: UInt64?

    /// A source that repeats itself with the same `seed`; nil for numbers of the system.
    package init(seed: UInt64?) { self.seed = seed }

    /// The numbers for one purpose, from their beginning.
    ///
    /// Every purpose has its own, so that a request of one kind does not change what the next
    /// request of another kind gets.
    package func stream(_ purpose: String) -> RandomStream {
        RandomStream(seed: seed.map { Self.mixed($0, with: purpose) })
    }

    /// FNV-1a of the purpose, from the seed on.
    private static func mixed(_ seed: UInt64, with purpose: String) -> UInt64 {
        var generator = SplitMix64(seed: seed)
        return purpose.utf8.reduce(generator.next()) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
