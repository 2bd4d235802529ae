internal import SIWAJOSE

/// Random numbers for one purpose: those of the system, or of a seed.
package struct RandomStream: RandomNumberGenerator, Sendable {
    private var generator: SplitMix64?

    /// The system's numbers, which nobody can predict.
    static let system = RandomStream(seed: nil)

    static let alphanumeric = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    init(seed: UInt64?) { generator = seed.map(SplitMix64.init(seed:)) }

    /// Returns the next number. The system's generator cannot fail, unlike OpenSSL's.
    package mutating func next() -> UInt64 {
        generator?.next() ?? UInt64.random(in: 0 ... .max)
    }

    /// Returns `count` characters of `alphabet`.
    package mutating func text(
        _ count: Int, of alphabet: [Character] = RandomStream.alphanumeric
    ) -> String {
        String((0..<count).map { _ in alphabet[Int.random(in: alphabet.indices, using: &self)] })
    }

    /// Returns `count` bytes, eight at a time, because each call can be a system call.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count {
            let word = next()
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return Array(bytes.prefix(count))
    }

    /// Returns a random UUID (RFC 9562 §5.4), the form of Apple's request ids.
    mutating func requestID() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]]
            .map { $0.hexadecimal.uppercased() }.joined(separator: "-")
    }
}

/// Random numbers that are the same for the same seed, so that a run can be repeated
/// (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64 = 0) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// True with a probability of `percent`.
    mutating func isBelow(percent: Int) -> Bool {
        percent >= 100 || Int.random(in: 0..<100, using: &self) < percent
    }
}

/// Texts that nobody can predict, even with a seed: they tell one start of the emulator from
/// another, and its own pages from those of others.
enum Fresh {
    /// `count` letters and digits.
    static func text(_ count: Int) -> String {
        var random = RandomStream.system
        return random.text(count)
    }

    /// A request id that is not Apple's: of a control request.
    static func requestID() -> String {
        var random = RandomStream.system
        return random.requestID()
    }
}
