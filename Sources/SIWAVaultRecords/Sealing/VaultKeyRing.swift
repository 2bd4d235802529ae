package import SIWACrypto
internal import SIWAJOSE
package import SIWALifecycle

/// The numbered keys of a vault: one encrypts, all of them decrypt.
///
/// Written with one line per key, `NUMBER KEY` or `NUMBER KEY retired`; the key has 64 hexadecimal
/// digits. A retired key only decrypts. A comma may replace a line end, so that a variable can hold
/// several keys; a text with only the digits is key 1. Lines that begin with `#` are skipped.
package struct VaultKeyRing: Sendable {
    let keys: [NumberedKey]

    struct NumberedKey: Sendable {
        let number: Int
        let key: AESGCM.Key
        var isRetired = false
    }

    /// The numbers that keys can have.
    package static let possibleNumbers = 1...Int(Int32.max)

    /// Reads the keys.
    ///
    /// - Throws: ``StoreError`` of kind `key`, which names the line without quoting it.
    package init(_ text: SecretBytes) throws(StoreError) {
        var keys: [NumberedKey] = []
        for (index, line) in Self.lines(of: text).enumerated() where !line.isEmpty {
            guard let key = Self.key(line, isAlone: keys.isEmpty) else {
                throw StoreError(
                    .key,
                    "line \(index + 1) of the vault's keys is not a number and 64 hexadecimal digits"
                )
            }
            guard !keys.contains(where: { $0.number == key.number }) else {
                throw StoreError(.key, "the vault's keys have two of number \(key.number)")
            }
            keys.append(key)
        }
        guard !keys.isEmpty else { throw StoreError(.key, "the vault's keys are empty") }
        self.keys = keys.sorted { $0.number < $1.number }
    }

    /// The numbers of all keys, the lowest first.
    package var numbers: [Int] { keys.map(\.number) }

    /// The numbers of the retired keys, the lowest first.
    package var retiredNumbers: [Int] { keys.filter(\.isRetired).map(\.number) }

    /// The highest number of a key that is not retired; nil if all are.
    package var newest: Int? { keys.last { !$0.isRetired }?.number }

    /// All keys in the format of a key file, one per line.
    package var lines: SecretBytes {
        var lines = SecretBuffer(capacity: 80 * keys.count)
        for key in keys {
            Self.append(key.number, key.key.bytes, to: &lines, isRetired: key.isRetired)
        }
        return lines.finished()
    }

    /// The number of the key that comes after key `number`.
    ///
    /// - Throws: ``StoreError`` of kind `key` if no higher number exists.
    package static func number(after number: Int) throws(StoreError) -> Int {
        guard number < possibleNumbers.upperBound else {
            throw StoreError(
                .key, "key \(number) has the highest possible number: no newer key can be added")
        }
        return max(number, 0) + 1
    }

    /// A line with a new random key.
    ///
    /// - Throws: ``StoreError`` of kind `key` if the number is not in ``possibleNumbers``, or if
    ///   the system provides no entropy.
    package static func newLine(number: Int) throws(StoreError) -> SecretBytes {
        guard possibleNumbers.contains(number) else {
            throw StoreError(
                .key, "\(number) is not a key number: keys have 1 to \(possibleNumbers.upperBound)")
        }
        let bytes = try cryptography { () throws(OpenSSLError) in
            try Random.secret(AESGCM.keyLength)
        }
        var line = SecretBuffer(capacity: 80)
        append(number, bytes, to: &line)
        return line.finished()
    }

    private static func append(
        _ number: Int, _ key: SecretBytes, to line: inout SecretBuffer, isRetired: Bool = false
    ) {
        line.append(contentsOf: "\(number) ".utf8)
        key.withSpan { bytes in
            for index in bytes.indices {
                let (high, low) = bytes[index].hexadecimalDigits()
                line.append(high)
                line.append(low)
            }
        }
        if isRetired { line.append(contentsOf: retiredMark) }
        line.append(UInt8(ascii: "\n"))
    }

    static let retiredMark = Array(" retired".utf8)

    /// - Throws: ``StoreError`` if the key is missing.
    func key(_ number: Int) throws(StoreError) -> AESGCM.Key {
        guard let key = keys.first(where: { $0.number == number }) else {
            throw StoreError(.key, "key \(number) is missing from the vault's keys")
        }
        return key.key
    }
}

/// Converts the errors of OpenSSL to errors of the vault.
func cryptography<Result>(
    _ body: () throws(OpenSSLError) -> Result
) throws(StoreError) -> Result {
    do {
        return try body()
    } catch {
        throw StoreError(.key, "OpenSSL cannot seal or open: \(error)")
    }
}
