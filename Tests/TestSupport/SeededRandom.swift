import Glibc

/// Random numbers that are the same for the same seed (SplitMix64).
package struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    /// Begins with `seed`.
    package init(seed: UInt64) { state = seed }

    /// A new seed for every run, which is printed; `SIWA_SEED` repeats a run.
    ///
    /// - Parameter name: what the numbers are for, as the printed line says.
    package static func announced(for name: String) -> Self {
        let seed =
            getenv("SIWA_SEED").flatMap { UInt64(String(cString: $0)) }
            ?? UInt64.random(in: 0 ... .max)
        print("\(name): SIWA_SEED=\(seed)")
        return Self(seed: seed)
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Random bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}
