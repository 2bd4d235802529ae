package import SIWACrypto

/// The numbered keys of a vault: one encrypts, all of them decrypt.
///
/// Written as a line a key, `NUMBER KEY` or `NUMBER KEY retired`, with the key as 64 hexadecimal
/// digits. A retired key decrypts and never encrypts. A comma may replace a line end, so that a
/// variable can hold several keys; a text with only the digits is key 1. Lines that begin with `#`
/// are skipped.
package struct VaultKeyRing: Sendable {
    private let keys: [NumberedKey]

    private struct NumberedKey: Sendable {
        let number: Int
        let bytes: SecretBytes
        var isRetired = false
    }

    /// The numbers that keys can have.
    package static let possibleNumbers = 1...Int(Int32.max)

    /// Reads the keys.
    ///
    /// - Throws: ``VaultError`` of kind `key`, which names the line and quotes nothing.
    package init(_ text: SecretBytes) throws(VaultError) {
        var keys: [NumberedKey] = []
        for (index, line) in Self.lines(of: text).enumerated() where !line.isEmpty {
            guard let key = Self.key(line, isAlone: keys.isEmpty) else {
                throw VaultError(
                    .key,
                    "line \(index + 1) of the vault's keys is not a number and 64 hexadecimal digits"
                )
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
    package var numbers: [Int] { keys.map(\.number) }

    /// The numbers of the retired keys, the lowest first.
    package var retiredNumbers: [Int] { keys.filter(\.isRetired).map(\.number) }

    /// The highest number of a key that is not retired; nil if all are.
    package var newest: Int? { keys.last { !$0.isRetired }?.number }

    /// All of them as a key file has them, a line each.
    package var lines: SecretBytes {
        var lines = SecretBuffer(capacity: 80 * keys.count)
        for key in keys {
            Self.append(key.number, key.bytes, to: &lines, isRetired: key.isRetired)
        }
        return lines.finished()
    }

    /// The number of the key that comes after key `number`.
    ///
    /// - Throws: ``VaultError`` of kind `key` if no higher number exists.
    package static func number(after number: Int) throws(VaultError) -> Int {
        guard number < possibleNumbers.upperBound else {
            throw VaultError(
                .key, "key \(number) has the highest possible number: no newer key can be added")
        }
        return max(number, 0) + 1
    }

    /// A line with a new random key.
    ///
    /// - Throws: ``VaultError`` of kind `key` if the number is not in ``possibleNumbers``, or if
    ///   the system provides no entropy.
    package static func newLine(number: Int) throws(VaultError) -> SecretBytes {
        guard possibleNumbers.contains(number) else {
            throw VaultError(
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
                line.append(hexadecimalDigits[Int(bytes[index] >> 4)])
                line.append(hexadecimalDigits[Int(bytes[index] & 0xF)])
            }
        }
        if isRetired { line.append(contentsOf: retiredMark) }
        line.append(UInt8(ascii: "\n"))
    }

    private static let retiredMark = Array(" retired".utf8)

    /// What a database knows a key by.
    ///
    /// - Throws: ``VaultError`` when there is no such key.
    package func check(ofKey number: Int) throws(VaultError) -> VaultKeyCheck {
        let key = try key(number)
        return VaultKeyCheck(
            number: number,
            sealed: try cryptography { () throws(OpenSSLError) in
                try AESGCM.seal(
                    SecretBytes([]), with: key, authenticating: Self.checkContext(number))
            })
    }

    /// Whether a key is the one that a database was made with; nil if its number is missing here.
    package func matches(_ check: VaultKeyCheck) throws(VaultError) -> Bool? {
        guard let key = keys.first(where: { $0.number == check.number }) else { return nil }
        return try cryptography { () throws(OpenSSLError) in
            try AESGCM.open(
                check.sealed, with: key.bytes, authenticating: Self.checkContext(check.number))
                != nil
        }
    }

    /// Encrypts a token for its record.
    ///
    /// - Throws: ``VaultError`` if there is no such key, or if it is retired.
    package func seal(
        _ token: RefreshToken, for user: VaultUser, _ fingerprint: TokenFingerprint,
        key number: Int
    ) throws(VaultError) -> [UInt8] {
        guard !retiredNumbers.contains(number) else {
            throw VaultError(.key, "key \(number) of the vault is retired")
        }
        let key = try key(number)
        return try cryptography { () throws(OpenSSLError) in
            try AESGCM.seal(
                token.text.bytes, with: key,
                authenticating: Self.context(user, fingerprint, key: number))
        }
    }

    /// Decrypts the token of a record.
    ///
    /// - Throws: ``VaultError``, which names the record, if it cannot be decrypted.
    package func open(_ record: VaultRecord) throws(VaultError) -> RefreshToken {
        guard let key = keys.first(where: { $0.number == record.keyNumber })?.bytes else {
            throw VaultError(
                .key,
                "\(record.id) is encrypted with key \(record.keyNumber), which is missing "
                    + "from the vault's keys")
        }
        let text = try cryptography { () throws(OpenSSLError) in
            try AESGCM.open(record.sealed, with: key, authenticating: Self.context(record))
        }
        guard let text else {
            throw VaultError(
                .sealBroken,
                "\(record.id) cannot be decrypted: it was changed, or belongs elsewhere")
        }
        return RefreshToken(SecretText(text))
    }

    /// Encrypts a secret that is not a record.
    ///
    /// - Throws: ``VaultError`` if there is no such key, or if it is retired.
    func seal(
        _ secret: SecretBytes, for place: [String], key number: Int
    ) throws(VaultError) -> [UInt8] {
        guard !retiredNumbers.contains(number) else {
            throw VaultError(.key, "key \(number) of the vault is retired")
        }
        let key = try key(number)
        return try cryptography { () throws(OpenSSLError) in
            try AESGCM.seal(secret, with: key, authenticating: Self.context(place, key: number))
        }
    }

    /// Decrypts a secret that is not a record.
    func open(_ sealed: SealedSecret, for place: [String]) throws(VaultError) -> SecretBytes {
        let key = try key(sealed.keyNumber)
        let context = Self.context(place, key: sealed.keyNumber)
        let secret = try cryptography { () throws(OpenSSLError) in
            try AESGCM.open(sealed.bytes, with: key, authenticating: context)
        }
        guard let secret else {
            throw VaultError(
                .sealBroken,
                "a sealed secret cannot be decrypted: it was changed, or belongs "
                    + "elsewhere")
        }
        return secret
    }

    private func key(_ number: Int) throws(VaultError) -> SecretBytes {
        guard let key = keys.first(where: { $0.number == number }) else {
            throw VaultError(.key, "key \(number) is missing from the vault's keys")
        }
        return key.bytes
    }
}

// What is authenticated with an encrypted token: where it belongs.
extension VaultKeyRing {
    private static func context(_ record: VaultRecord) -> [UInt8] {
        guard let fingerprint = record.id.fingerprint else {
            return legacyContext(
                record.user, key: record.keyNumber, version: record.legacyVersion ?? 0)
        }
        return context(record.user, fingerprint, key: record.keyNumber)
    }

    private static func context(
        _ user: VaultUser, _ fingerprint: TokenFingerprint, key: Int
    ) -> [UInt8] {
        place("siwa vault record 2\0", user, [fingerprint.rawValue]) + bigEndian(key)
    }

    /// As siwa 0.1 wrote it.
    private static func legacyContext(_ user: VaultUser, key: Int, version: Int) -> [UInt8] {
        place("siwa vault record 1\0", user) + bigEndian(key) + bigEndian(version)
    }

    /// The length precedes every text, so no two places are written alike.
    private static func place(
        _ label: String, _ user: VaultUser, _ others: [String] = []
    ) -> [UInt8] {
        place(label, [user.clientID.rawValue, user.userID.rawValue] + others)
    }

    private static func place(_ label: String, _ texts: [String]) -> [UInt8] {
        var context = Array(label.utf8)
        for text in texts { context += bigEndian(text.utf8.count) + Array(text.utf8) }
        return context
    }

    /// Of a secret that is not a record.
    private static func context(_ texts: [String], key: Int) -> [UInt8] {
        place("siwa sealed secret 1\0", texts) + bigEndian(key)
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
    /// The lines with single blanks between their words; comments are empty.
    private static func lines(of text: SecretBytes) -> [[UInt8]] {
        // Copies of key digits stay in no array for long; the keys themselves are cleansed.
        text.revealed().split(
            omittingEmptySubsequences: false, whereSeparator: separators.contains
        ).map { Array(words(of: $0).joined(separator: [0x20])) }
    }

    /// Empty for a comment.
    private static func words(of line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        let words = line.split(whereSeparator: blanks.contains)
        return words.first?.first == UInt8(ascii: "#") ? [] : words
    }

    /// Line end and comma.
    private static let separators: Set<UInt8> = [0x0A, 0x2C]
    /// Space, tab and carriage return.
    private static let blanks: Set<UInt8> = [0x20, 0x09, 0x0D]

    private static func key(_ line: [UInt8], isAlone: Bool) -> NumberedKey? {
        var words = line.split(separator: 0x20)
        let isRetired = words.count > 2 && words[2].elementsEqual(retiredMark.dropFirst())
        if isRetired { words.remove(at: 2) }
        guard let digits = words.last, let bytes = secret(digits) else { return nil }
        switch words.count {
        case 1: return isAlone ? NumberedKey(number: 1, bytes: bytes) : nil
        case 2:
            guard let number = Int(String(decoding: words[0], as: UTF8.self)),
                possibleNumbers.contains(number)
            else { return nil }
            return NumberedKey(number: number, bytes: bytes, isRetired: isRetired)
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

// Retiring keys.
extension VaultKeyRing {
    /// The text of a key file in which every key with a lower number than `newest` is marked
    /// `retired`; every other byte stays.
    ///
    /// - Throws: ``VaultError`` of kind `key` if the text has no keys.
    package static func retiring(
        keysBefore newest: Int, in text: SecretBytes
    ) throws(VaultError) -> SecretBytes {
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
        let end = line.lastIndex { !blanks.contains($0) } ?? line.startIndex
        if words.count == 2 * AESGCM.keyLength { result.append(contentsOf: "1 ".utf8) }
        result.append(contentsOf: line[...end])
        result.append(contentsOf: retiredMark)
        result.append(contentsOf: line[(end + 1)...])
    }
}
