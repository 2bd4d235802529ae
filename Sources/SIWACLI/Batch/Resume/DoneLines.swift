internal import SIWAApplication

/// The input lines that have a result already, one bit per line.
struct DoneLines: Sendable {
    private var words: [UInt64] = []

    func contains(_ line: Int) -> Bool {
        let word = line / 64
        return word < words.count && words[word] & 1 << UInt64(line % 64) != 0
    }

    /// Lines are inserted nearly in their order, so memory grows with their numbers.
    mutating func insert(_ line: Int) {
        let word = line / 64
        if word >= words.count {
            words += Array(repeating: 0, count: word - words.count + 1)
        }
        words[word] |= 1 << UInt64(line % 64)
    }
}
