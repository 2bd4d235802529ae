internal import SIWACrypto

/// base64url without padding (RFC 4648 §5, RFC 7515 §2), strict: one spelling for each value.
package enum Base64URL {
    /// The text of `bytes`.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: encodedBytes(bytes), as: UTF8.self)
    }

    /// The text of `bytes`, as ASCII.
    static func encodedBytes(_ bytes: some Collection<UInt8>) -> [UInt8] {
        encodedBytes(Array(bytes).span)
    }

    /// The text of `bytes`, as ASCII.
    static func encodedBytes(_ bytes: Span<UInt8>) -> [UInt8] {
        let table = alphabet
        let digits = table.span.extracting(first: 64)
        var rest = bytes
        var text: [UInt8] = []
        text.append(addingCapacity: (bytes.count + 2) / 3 * 4) { text in
            while rest.count >= 3 {
                let (one, two, three) = (rest[0], rest[1], rest[2])
                text.append(digits[Int(one >> 2)])
                text.append(digits[Int((one << 4 | two >> 4) & 63)])
                text.append(digits[Int((two << 2 | three >> 6) & 63)])
                text.append(digits[Int(three & 63)])
                rest = rest.extracting(droppingFirst: 3)
            }
            guard rest.count > 0 else { return }
            let (one, two) = (rest[0], rest.count > 1 ? rest[1] : 0)
            text.append(digits[Int(one >> 2)])
            text.append(digits[Int((one << 4 | two >> 4) & 63)])
            if rest.count > 1 { text.append(digits[Int(two << 2 & 63)]) }
        }
        return text
    }

    /// Decodes `text`.
    ///
    /// - Throws: ``Base64URLError`` for padding, white space, `+` or `/`, a length no encoder
    ///   produces, and stray bits after the last byte: with any of these, two texts could have the
    ///   same value.
    package static func decode(
        _ text: some Collection<UInt8>
    ) throws(Base64URLError) -> [UInt8] {
        try decode(Array(text).span)
    }

    /// Decodes `text`.
    ///
    /// - Throws: ``Base64URLError``, as for a collection.
    static func decode(_ text: Span<UInt8>) throws(Base64URLError) -> [UInt8] {
        var done = 0
        var bytes: [UInt8] = []
        bytes.append(addingCapacity: text.count / 4 * 3 + 2) { bytes in
            done = Base64Decoder.blocks.decode(text, into: &bytes)
        }
        // The rest is the last block, or has a mistake.
        var decoder = Base64Decoder(after: done)
        for index in done..<text.count {
            if let byte = try decoder.next(text[index]) { bytes.append(byte) }
        }
        try decoder.finish()
        return bytes
    }

    /// Decodes `text`.
    ///
    /// - Throws: ``Base64URLError``, as for bytes.
    package static func decode(_ text: String) throws(Base64URLError) -> [UInt8] {
        try decode(text.utf8)
    }

    fileprivate static let alphabet = [UInt8](
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}

/// Decodes base64url, a character at a time; the caller stores the bytes.
package struct Base64Decoder {
    private var accumulator: UInt32 = 0
    private var bits: UInt32 = 0
    private var count: Int

    /// - Parameter count: the number of characters already decoded, in whole blocks.
    package init(after count: Int = 0) { self.count = count }

    /// Decodes all of a text but its end.
    fileprivate static let blocks = BlockDecoder(digits: digits)

    /// Takes one character; returns the byte that it completes, if any.
    package mutating func next(_ character: UInt8) throws(Base64URLError) -> UInt8? {
        let digit = Self.digits[Int(character)]
        guard digit < 64 else { throw .character(character) }
        count += 1
        accumulator = accumulator << 6 | UInt32(digit)
        bits += 6
        guard bits >= 8 else { return nil }
        bits -= 8
        return UInt8(truncatingIfNeeded: accumulator >> bits)
    }

    /// Checks that the text could end here.
    package func finish() throws(Base64URLError) {
        guard count % 4 != 1 else { throw .length(count) }
        guard accumulator & ((1 << bits) - 1) == 0 else { throw .strayBits }
    }

    /// The value of each character; 255 if it is not in the alphabet.
    private static let digits: [UInt8] = {
        var table = [UInt8](repeating: 255, count: 256)
        for (value, character) in Base64URL.alphabet.enumerated() {
            table[Int(character)] = UInt8(value)
        }
        return table
    }()
}

/// Why a text is not base64url.
package enum Base64URLError: Error, Hashable, Sendable {
    /// A character outside the alphabet: padding, white space, or base64's own `+` and `/`.
    case character(UInt8)
    /// A length no encoder produces.
    case length(Int)
    /// Bits after the last byte that are not zero.
    case strayBits
}

extension Base64URLError: CustomStringConvertible {
    /// What is wrong, without quoting the text.
    package var description: String {
        switch self {
        case .character(UInt8(ascii: "=")): "it is padded with ="
        case .character(UInt8(ascii: "+")), .character(UInt8(ascii: "/")):
            "it is base64 with + or /, not base64url"
        case .character(let byte): "it has the byte 0x\([byte].hexadecimal)"
        case .length(let count): "no encoder makes \(count) characters"
        case .strayBits: "its last character has bits to spare"
        }
    }
}
