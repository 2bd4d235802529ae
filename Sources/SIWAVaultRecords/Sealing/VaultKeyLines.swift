package import SIWACrypto
package import SIWALifecycle

// Reading.
extension VaultKeyRing {
    /// The lines with single spaces between their words; comments are empty.
    static func lines(of text: SecretBytes) -> [[UInt8]] {
        // The copies of key digits in arrays are short-lived; the keys themselves are overwritten
        // after use.
        text.revealed().split(
            omittingEmptySubsequences: false, whereSeparator: separators.contains
        ).map { Array(words(of: $0).joined(separator: [0x20])) }
    }

    /// Empty for a comment.
    private static func words(of line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        let words = line.split(whereSeparator: spaces.contains)
        return words.first?.first == UInt8(ascii: "#") ? [] : words
    }

    /// Line end and comma.
    private static let separators: Set<UInt8> = [0x0A, 0x2C]
    /// Space, tab and carriage return.
    private static let spaces: Set<UInt8> = [0x20, 0x09, 0x0D]

    /// Reads a line; nil if it is not a key.
    ///
    /// - Parameter isAlone: accepts a key without a number.
    static func key(_ line: [UInt8], isAlone: Bool) -> NumberedKey? {
        var words = line.split(separator: 0x20)
        let isRetired = words.count > 2 && words[2].elementsEqual(retiredMark.dropFirst())
        if isRetired { words.remove(at: 2) }
        guard let digits = words.last, let bytes = secret(digits) else { return nil }
        switch words.count {
        case 1: return isAlone ? NumberedKey(number: 1, key: AESGCM.Key(bytes)) : nil
        case 2:
            guard let number = Int(String(decoding: words[0], as: UTF8.self)),
                possibleNumbers.contains(number)
            else { return nil }
            return NumberedKey(number: number, key: AESGCM.Key(bytes), isRetired: isRetired)
        default: return nil
        }
    }

    private static func secret(_ digits: ArraySlice<UInt8>) -> SecretBytes? {
        guard digits.count == 2 * AESGCM.keyLength else { return nil }
        var bytes = SecretBuffer(capacity: AESGCM.keyLength)
        var high: UInt8?
        for digit in digits {
            guard let value = Character(Unicode.Scalar(digit)).hexDigitValue.map(UInt8.init) else {
                return nil
            }
            if let upper = high {
                bytes.append(upper << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes.finished()
    }
}

// Retiring keys.
extension VaultKeyRing {
    /// The text of a key file in which every key with a lower number than `newest` is marked
    /// `retired`; every other byte stays.
    ///
    /// - Throws: ``StoreError`` of kind `key` if the text has no keys.
    package static func retiring(
        keysBefore newest: Int, in text: SecretBytes
    ) throws(StoreError) -> SecretBytes {
        _ = try VaultKeyRing(text)
        let bytes = text.revealed()
        var result = SecretBuffer(capacity: bytes.count + 64)
        var (start, isFirst) = (0, true)
        while start <= bytes.count {
            let end = bytes[start...].firstIndex { separators.contains($0) } ?? bytes.count
            append(bytes[start..<end], isFirst: &isFirst, retiringBefore: newest, to: &result)
            if end < bytes.count { result.append(bytes[end]) }
            start = end + 1
        }
        return result.finished()
    }

    private static func append(
        _ line: ArraySlice<UInt8>, isFirst: inout Bool, retiringBefore newest: Int,
        to result: inout SecretBuffer
    ) {
        let words = Array(words(of: line).joined(separator: [0x20]))
        guard let key = Self.key(words, isAlone: isFirst) else {
            return result.append(contentsOf: line)
        }
        isFirst = false
        guard key.number < newest, !key.isRetired else {
            return result.append(contentsOf: line)
        }
        let end = line.lastIndex { !spaces.contains($0) } ?? line.startIndex
        if words.count == 2 * AESGCM.keyLength { result.append(contentsOf: "1 ".utf8) }
        result.append(contentsOf: line[...end])
        result.append(contentsOf: retiredMark)
        result.append(contentsOf: line[(end + 1)...])
    }
}
