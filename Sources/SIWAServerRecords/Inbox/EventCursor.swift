internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// A place in the events of one history of an inbox, which a caller keeps between pages.
///
/// A database that was restored, moved or failed over has another history than the one that issued
/// the cursor: then the events after the same position are others. ``EventHistory`` decides.
package struct EventCursor: Hashable, Sendable {
    /// The position of the last event that was read; 0 for a start.
    package let position: Int
    /// The random mark that this event got when it was committed; nil for a start, and for a cursor
    /// of a version that had no marks.
    package let mark: Int?
    /// The ``EventHistory/round`` in which the cursor was issued; nil like the mark.
    package let round: Int?

    /// Creates a cursor.
    package init(position: Int, mark: Int?, round: Int?) {
        (self.position, self.mark, self.round) = (position, mark, round)
    }

    /// Before all events, whatever was deleted.
    static func start(in round: Int) -> Self { Self(position: 0, mark: nil, round: round) }

    /// Reads the text of a cursor; nil if no version of siwa-server writes it.
    package init?(_ text: String) {
        if let position = Int(text), String(position) == text, (0..<Self.limit).contains(position) {
            // The bare positions of earlier versions.
            self.init(position: position, mark: nil, round: nil)
            return
        }
        guard text.utf8.count == Self.length, let bytes = try? Base64URL.decode(text),
            bytes.count == 1 + 3 * Self.width, bytes.first == Self.version
        else { return nil }
        let numbers = (0..<3).map { index in
            bytes[(1 + index * Self.width)..<(1 + (index + 1) * Self.width)]
                .reduce(0) { $0 << 8 | Int($1) }
        }
        guard numbers[0] < Self.limit else { return nil }
        let isStart = numbers[0] == 0
        guard !isStart || numbers[1] == 0 else { return nil }
        self.init(position: numbers[0], mark: isStart ? nil : numbers[1], round: numbers[2])
    }

    /// An opaque text of 30 characters of base64url, without meaning to callers.
    package var text: String {
        let numbers = [position, mark ?? 0, round ?? 0]
        let bytes = numbers.flatMap { number in
            (0..<Self.width).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        return Base64URL.encode([Self.version] + bytes)
    }

    /// The longest text.
    package static let longest = 30

    private static let version: UInt8 = 1
    /// The bytes of a number: marks, rounds and positions have at most 56 bits.
    private static let width = 7
    private static let length = (1 + 3 * width) * 8 / 6 + 1
    private static let limit = 1 << 56
}
