internal import SIWAJOSE
internal import SIWALifecycle

/// The text of a `sub` or `transfer_sub`, shaped like the recorded ones: `NNNNNN.<32 hex>.HHMM`, a
/// number below 002000, 16 bytes and a time of day.
enum IdentifierText {
    private static let numbers = 2000
    private static let minutes = 24 * 60

    static func new(using random: inout RandomStream) -> String {
        text(
            number: Int.random(in: 0..<numbers, using: &random), bytes: random.bytes(16),
            minute: Int.random(in: 0..<minutes, using: &random))
    }

    /// Derives the same identifier from the same digest of 32 bytes.
    static func derived(from digest: [UInt8]) -> String {
        text(
            number: (Int(digest[16]) << 8 | Int(digest[17])) % numbers,
            bytes: Array(digest.prefix(16)),
            minute: (Int(digest[18]) << 8 | Int(digest[19])) % minutes)
    }

    private static func text(number: Int, bytes: [UInt8], minute: Int) -> String {
        let time = (minute / 60).padded(to: 2) + (minute % 60).padded(to: 2)
        return "\(number.padded(to: 6)).\(bytes.hexadecimal).\(time)"
    }
}
