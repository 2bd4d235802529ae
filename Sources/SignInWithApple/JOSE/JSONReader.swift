extension JSON {
    /// Reads one JSON value and nothing behind it.
    ///
    /// - Throws: ``JSONError`` for everything RFC 8259 forbids, and for duplicate members
    ///   (RFC 7515 §4 forbids them in headers, RFC 7519 §4 in claims), invalid
    ///   UTF-8, lone surrogates, and nesting deeper than 32.
    public init(_ bytes: some Collection<UInt8>) throws(JSONError) {
        var reader = JSONReader(Array(bytes))
        self = try reader.document()
    }

    /// Reads a text.
    ///
    /// - Throws: ``JSONError``, as for bytes.
    public init(text: String) throws(JSONError) {
        try self.init(text.utf8)
    }
}

/// A strict recursive-descent reader; the depth limit bounds the recursion.
private struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONError) -> JSON {
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw failure(.trailing) }
        return value
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSON {
        skipSpace()
        switch try peek() {
        case UInt8(ascii: "{"): return try object(depth: deeper(depth))
        case UInt8(ascii: "["): return try array(depth: deeper(depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw failure(.unexpected)
        }
    }

    private func deeper(_ depth: Int) throws(JSONError) -> Int {
        guard depth < 32 else { throw failure(.depth) }
        return depth + 1
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSON {
        var members: [JSON.Member] = []
        var names = MemberNames()
        position += 1
        if try next(isClosing: "}") { return .object([]) }
        repeat {
            skipSpace()
            guard try peek() == UInt8(ascii: "\"") else { throw failure(.unexpected) }
            let start = position
            let name = try string()
            guard names.insert(name, behind: members) else {
                throw failure(.duplicate(name), at: start)
            }
            skipSpace()
            guard try peek() == UInt8(ascii: ":") else { throw failure(.unexpected) }
            position += 1
            // What a token claims; an object inside another one is smaller.
            if depth == 1, members.isEmpty { members.reserveCapacity(16) }
            members.append(JSON.Member(name, try value(depth: depth)))
        } while try !next(isClosing: "}", afterItem: true)
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSON {
        var elements: [JSON] = []
        position += 1
        if try next(isClosing: "]") { return .array([]) }
        repeat {
            elements.append(try value(depth: depth))
        } while try !next(isClosing: "]", afterItem: true)
        return .array(elements)
    }

    /// Steps over the closing bracket, or over the comma that must stand after an item.
    private mutating func next(
        isClosing bracket: Unicode.Scalar, afterItem: Bool = false
    ) throws(JSONError) -> Bool {
        skipSpace()
        let byte = try peek()
        if byte == UInt8(ascii: bracket) {
            position += 1
            return true
        }
        guard afterItem else { return false }
        guard byte == UInt8(ascii: ",") else { throw failure(.unexpected) }
        position += 1
        return false
    }

    private mutating func word(_ word: String, _ value: JSON) throws(JSONError) -> JSON {
        guard bytes[position...].starts(with: word.utf8) else { throw failure(.unexpected) }
        position += word.utf8.count
        return value
    }

    private mutating func skipSpace() {
        while position < bytes.count, bytes[position] <= 0x20 {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private func peek() throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw failure(.ended) }
        return bytes[position]
    }

    private func failure(_ reason: JSONError.Reason, at offset: Int? = nil) -> JSONError {
        let offset = offset ?? position
        let line = 1 + bytes[..<min(offset, bytes.count)].count { $0 == 0x0A }
        return JSONError(reason: reason, offset: offset, line: line)
    }
}

// Numbers and strings have rules of their own.
extension JSONReader {
    fileprivate mutating func number() throws(JSONError) -> JSON {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        let integerStart = position
        try digits()
        if bytes[integerStart] == UInt8(ascii: "0"), position > integerStart + 1 {
            throw failure(.number, at: start)
        }
        var isInteger = true
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try digits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if position < bytes.count, bytes[position] == 0x2B || bytes[position] == 0x2D {
                position += 1
            }
            try digits()
        }
        if isInteger, let value = integer(bytes[start..<position]) { return .integer(value) }
        return .number(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    /// Nil when it does not fit.
    private func integer(_ text: ArraySlice<UInt8>) -> Int? {
        // That many digits fit whatever they are.
        guard text.count < 19, text.first != UInt8(ascii: "-") else {
            return Int(String(decoding: text, as: UTF8.self))
        }
        return text.reduce(0) { $0 &* 10 &+ Int($1 &- 0x30) }
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        guard position > start else { throw failure(.number) }
    }

    fileprivate mutating func string() throws(JSONError) -> String {
        let start = position
        position += 1
        let run = position..<plainEnd(from: position)
        position = run.upperBound
        guard try peek() != UInt8(ascii: "\"") else {
            position += 1
            return try text(bytes.span.extracting(run), from: start)
        }
        // Nearly no text gets here.
        var text = Array(bytes[run])
        while true {
            let byte = try peek()
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return try self.text(text.span, from: start)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20: throw failure(.controlCharacter, at: position - 1)
            default: text.append(byte)
            }
        }
    }

    /// Where what stands for itself in a string ends.
    private func plainEnd(from start: Int) -> Int {
        bytes.span.index(from: start) { word in
            word.marking(UInt8(ascii: "\"")) | word.marking(UInt8(ascii: "\\"))
                | word.marking(below: 0x20)
        }
    }

    private func text(_ bytes: Span<UInt8>, from start: Int) throws(JSONError) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes))
        } catch {
            throw failure(.notUTF8, at: start)
        }
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

    /// The character behind `\u`, which may take a second escape to spell.
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
        // UInt32(_:radix:) would take a sign.
        guard text.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let value = UInt32(String(decoding: text, as: UTF8.self), radix: 16)
        else { throw failure(.escape) }
        position += 4
        return value
    }
}
