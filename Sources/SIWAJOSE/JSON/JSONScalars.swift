internal import SIWACrypto

// Numbers and strings.
extension JSONReader {
    mutating func number() throws(JSONError) {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        let integerStart = position
        try digits()
        let startsWithZero = bytes[integerStart] == UInt8(ascii: "0")
        if startsWithZero, position > integerStart + 1 { throw failure(.number, at: start) }
        let integerEnd = position
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < bytes.count, bytes[position] == 0x2B || bytes[position] == 0x2D {
                position += 1
            }
            try digits()
        }
        let isInteger = position == integerEnd
        // -0 is written as 0.
        let isPlain = !isInteger || !startsWithZero || start == integerStart
        add(isInteger ? .integer : .otherNumber, from: start, isPlain: isPlain)
    }

    private mutating func digits() throws(JSONError) {
        var end = position
        while end < bytes.count, bytes[end].isDigit { end += 1 }
        guard end > position else { throw failure(.number) }
        position = end
    }

    mutating func string() throws(JSONError) {
        let start = position
        // The end of the ASCII characters that need no escape.
        position = bytes.span.index(from: start + 1, JSON.markOddCharacters)
        guard try peek() != UInt8(ascii: "\"") else {
            let mark = JSONText.mark(of: bytes.span.extracting(start + 1..<position))
            position += 1
            return add(.string, from: start, mark: mark)
        }
        // Few strings get here.
        var text: [UInt8] = []
        // Mostly JSON inside a string, such as Apple's events.
        text.reserveCapacity(200)
        text.append(contentsOf: bytes[start + 1..<position])
        var hasEscapes = false
        while case let byte = try peek(), byte != UInt8(ascii: "\"") {
            position += 1
            switch byte {
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try escape(into: &text)
            case 0..<0x20: throw failure(.controlCharacter, at: position - 1)
            default:
                let start = position - 1
                position = bytes.span.index(from: position, JSON.markOddCharacters)
                let run = start..<position
                text.append(addingCapacity: run.count) {
                    $0.append(contentsOf: bytes.span.extracting(run))
                }
            }
        }
        position += 1
        guard (try? UTF8Span(validating: text.span)) != nil else {
            throw failure(.notUTF8, at: start)
        }
        if hasEscapes { unescaped.append(JSONText.Unescaped(node: nodes.count, text: text)) }
        let mark = hasEscapes ? 0 : JSONText.mark(of: text.span)
        add(.string, from: start, isPlain: false, hasEscapes: hasEscapes, mark: mark)
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        let byte = try peek()
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: try scalar().utf8)
        default: throw failure(.escape)
        }
    }

    /// The character of a `\u` escape, which may need a second escape.
    private mutating func scalar() throws(JSONError) -> Character {
        var value = try hexadecimal()
        if (0xD800..<0xDC00).contains(value) {
            guard bytes[position...].starts(with: [0x5C, 0x75]) else { throw failure(.escape) }
            position += 2
            let low = try hexadecimal()
            guard (0xDC00..<0xE000).contains(low) else { throw failure(.escape) }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw failure(.escape) }
        return Character(scalar)
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        guard position + 4 <= bytes.count else { throw failure(.ended) }
        let text = bytes[position..<position + 4]
        // UInt32(_:radix:) would accept a sign.
        guard text.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let value = UInt32(String(decoding: text, as: UTF8.self), radix: 16)
        else { throw failure(.escape) }
        position += 4
        return value
    }
}
