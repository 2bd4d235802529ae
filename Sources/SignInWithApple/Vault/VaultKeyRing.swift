public import SIWACrypto

/// The keys of a vault, numbered: one seals, all of them open.
///
/// Written as a line a key, `NUMBER KEY`, the key in 64 hexadecimal digits; a comma may stand in
/// place of a line end, so that a variable can hold several; a text of nothing but the digits is
/// key 1. Lines that begin with `#` are passed over.
public struct VaultKeyRing: Sendable {
    private let keys: [NumberedKey]

    private struct NumberedKey: Sendable {
        let number: Int
        let bytes: SecretBytes
    }

    /// Reads the keys.
    ///
    /// - Throws: ``VaultError`` of kind `key`, which names the line and quotes nothing.
    public init(_ text: SecretBytes) throws(VaultError) {
        var keys: [NumberedKey] = []
        for (index, line) in Self.lines(of: text).enumerated() where !line.isEmpty {
            guard let key = Self.key(line, isAlone: keys.isEmpty) else {
                throw VaultError(
                    .key,
                    "line \(index + 1) of the vault's keys is no number with 64 hexadecimal digits")
            }
            guard !keys.contains(where: { $0.number == key.number }) else {
                throw VaultError(.key, "the vault's keys have two of number \(key.number)")
            }
            keys.append(key)
        }
        guard !keys.isEmpty else { throw VaultError(.key, "the vault's keys are empty") }
        self.keys = keys.sorted { $0.number < $1.number }
    }

    /// Their numbers, the lowest first.
    public var numbers: [Int] { keys.map(\.number) }

    /// All of them as a key file has them, a line each.
    public var lines: SecretBytes {
        var lines = SecretBuffer(capacity: 80 * keys.count)
        for key in keys { Self.append(key.number, key.bytes, to: &lines) }
        return lines.finished()
    }

    /// A line with a new random key.
    ///
    /// - Throws: ``VaultError`` of kind `key` when the system gives no entropy.
    public static func newLine(number: Int) throws(VaultError) -> SecretBytes {
        let bytes = try cryptography { () throws(OpenSSLError) in
            try Random.secret(AESGCM.keyLength)
        }
        var line = SecretBuffer(capacity: 80)
        append(number, bytes, to: &line)
        return line.finished()
    }

    private static func append(_ number: Int, _ key: SecretBytes, to line: inout SecretBuffer) {
        line.append(contentsOf: "\(number) ".utf8)
        key.withSpan { bytes in
            for index in bytes.indices {
                line.append(hexadecimalDigits[Int(bytes[index] >> 4)])
                line.append(hexadecimalDigits[Int(bytes[index] & 0xF)])
            }
        }
        line.append(UInt8(ascii: "\n"))
    }

    /// What a database knows a key by.
    ///
    /// - Throws: ``VaultError`` when there is no such key.
    public func check(ofKey number: Int) throws(VaultError) -> VaultKeyCheck {
        let key = try key(number)
        return VaultKeyCheck(
            number: number,
            sealed: try cryptography { () throws(OpenSSLError) in
                try AESGCM.seal(
                    SecretBytes([]), with: key, authenticating: Self.checkContext(number))
            })
    }

    /// Whether a key is the one that a database knows; nil when there is none of its number.
    public func matches(_ check: VaultKeyCheck) throws(VaultError) -> Bool? {
        guard let key = keys.first(where: { $0.number == check.number }) else { return nil }
        return try cryptography { () throws(OpenSSLError) in
            try AESGCM.open(
                check.sealed, with: key.bytes, authenticating: Self.checkContext(check.number))
                != nil
        }
    }

    /// Seals a token for its place in the vault.
    ///
    /// - Throws: ``VaultError`` when there is no such key.
    public func seal(
        _ token: RefreshToken, for user: VaultUser, key number: Int, version: Int
    ) throws(VaultError) -> [UInt8] {
        let key = try key(number)
        return try cryptography { () throws(OpenSSLError) in
            try AESGCM.seal(
                token.text.bytes, with: key,
                authenticating: Self.context(user, key: number, version: version))
        }
    }

    /// Opens the token of a record.
    ///
    /// - Throws: ``VaultError``, which names the record, when it does not open.
    public func open(_ record: VaultRecord) throws(VaultError) -> RefreshToken {
        guard let key = keys.first(where: { $0.number == record.keyNumber })?.bytes else {
            throw VaultError(
                .key, "\(record.user) is sealed with key \(record.keyNumber), which is not there")
        }
        let text = try cryptography { () throws(OpenSSLError) in
            try AESGCM.open(
                record.sealed, with: key,
                authenticating: Self.context(
                    record.user, key: record.keyNumber, version: record.version))
        }
        guard let text else {
            throw VaultError(
                .sealBroken, "\(record.user) does not open: it was changed, or belongs elsewhere")
        }
        return RefreshToken(SecretText(text))
    }

    private func key(_ number: Int) throws(VaultError) -> SecretBytes {
        guard let key = keys.first(where: { $0.number == number }) else {
            throw VaultError(.key, "key \(number) of the vault is not there")
        }
        return key.bytes
    }
}

// What is authenticated with a sealed text: where it belongs.
extension VaultKeyRing {
    /// Lengths stand in front of texts, so that no two places are written alike.
    private static func context(_ user: VaultUser, key: Int, version: Int) -> [UInt8] {
        var context = Array("siwa vault record 1\0".utf8)
        for text in [user.clientID.rawValue, user.userID.rawValue] {
            context += bigEndian(text.utf8.count) + Array(text.utf8)
        }
        return context + bigEndian(key) + bigEndian(version)
    }

    private static func checkContext(_ number: Int) -> [UInt8] {
        Array("siwa vault key 1\0".utf8) + bigEndian(number)
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

// Reading.
extension VaultKeyRing {
    /// Without blanks around them; empty where there is nothing to read.
    private static func lines(of text: SecretBytes) -> [[UInt8]] {
        // Copies of key digits stay in no array for long; the keys themselves are cleansed.
        text.revealed().split(
            omittingEmptySubsequences: false, whereSeparator: { [0x0A, 0x2C].contains($0) }
        ).map { line in
            let words = line.split { [0x20, 0x09, 0x0D].contains($0) }
            return words.first?.first == UInt8(ascii: "#")
                ? [] : Array(words.joined(separator: [0x20]))
        }
    }

    private static func key(_ line: [UInt8], isAlone: Bool) -> NumberedKey? {
        let words = line.split(separator: 0x20)
        guard let digits = words.last, let bytes = secret(digits) else { return nil }
        switch words.count {
        case 1: return isAlone ? NumberedKey(number: 1, bytes: bytes) : nil
        case 2:
            guard let number = Int(String(decoding: words[0], as: UTF8.self)),
                (1...999_999).contains(number)
            else { return nil }
            return NumberedKey(number: number, bytes: bytes)
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

private let hexadecimalDigits = Array("0123456789abcdef".utf8)

private func cryptography<Result>(
    _ body: () throws(OpenSSLError) -> Result
) throws(VaultError) -> Result {
    do {
        return try body()
    } catch {
        throw VaultError(.key, "OpenSSL cannot seal or open: \(error)")
    }
}
