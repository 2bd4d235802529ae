internal import SIWACrypto

extension JSON {
    /// Reads exactly one JSON value.
    ///
    /// - Throws: ``JSONError`` for everything RFC 8259 forbids, and for duplicate members
    ///   (RFC 7515 §4 forbids them in headers, RFC 7519 §4 in claims), invalid
    ///   UTF-8, lone surrogates, and nesting deeper than 32.
    package init(_ bytes: some Collection<UInt8>) throws(JSONError) {
        self = try JSONText(Array(bytes)).value
    }

    /// Reads a text.
    ///
    /// - Throws: ``JSONError``, as for bytes.
    package init(text: String) throws(JSONError) {
        try self.init(text.utf8)
    }
}

/// A strict recursive-descent reader; the depth limit bounds the recursion.
struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0
    /// See ``JSONText``.
    private(set) var nodes: [JSONText.Node] = []
    private(set) var unescaped: [JSONText.Unescaped] = []
    /// How many blanks and how many values were read that a writer would write otherwise.
    private var oddities = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func read() throws(JSONError) {
        // What a token claims has fewer.
        nodes.reserveCapacity(30)
        try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw failure(.trailing) }
    }

    private mutating func value(depth: Int) throws(JSONError) {
        skipSpace()
        switch try peek() {
        case UInt8(ascii: "{"): try object(depth: deeper(depth))
        case UInt8(ascii: "["): try array(depth: deeper(depth))
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): try word("true", .yes)
        case UInt8(ascii: "f"): try word("false", .no)
        case UInt8(ascii: "n"): try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        default: throw failure(.unexpected)
        }
    }

    private func deeper(_ depth: Int) throws(JSONError) -> Int {
        guard depth < 32 else { throw failure(.depth) }
        return depth + 1
    }

    private mutating func object(depth: Int) throws(JSONError) {
        let (object, oddities) = (begin(.object), oddities)
        var names = MemberNames()
        if try !next(isClosing: "}") {
            repeat {
                skipSpace()
                guard try peek() == UInt8(ascii: "\"") else { throw failure(.unexpected) }
                try string()
                try checkName(of: object, &names)
                skipSpace()
                guard try peek() == UInt8(ascii: ":") else { throw failure(.unexpected) }
                position += 1
                try value(depth: depth)
            } while try !next(isClosing: "}", afterItem: true)
        }
        end(object, isPlain: oddities == self.oddities)
    }

    private mutating func array(depth: Int) throws(JSONError) {
        let (array, oddities) = (begin(.array), oddities)
        if try !next(isClosing: "]") {
            repeat {
                try value(depth: depth)
            } while try !next(isClosing: "]", afterItem: true)
        }
        end(array, isPlain: oddities == self.oddities)
    }

    /// Steps over an opening bracket; answers the index of its node.
    private mutating func begin(_ kind: JSONText.Node.Kind) -> Int {
        position += 1
        add(kind, from: position - 1)
        return nodes.count - 1
    }

    private mutating func end(_ index: Int, isPlain: Bool) {
        nodes[index].range = nodes[index].range.lowerBound..<position
        nodes[index].next = nodes.count
        nodes[index].isPlain = isPlain
    }

    /// Adds a node for the bytes from `start` to here.
    private mutating func add(
        _ kind: JSONText.Node.Kind, from start: Int, isPlain: Bool = true, hasEscapes: Bool = false
    ) {
        if !isPlain { oddities += 1 }
        nodes.append(
            JSONText.Node(
                kind: kind, isPlain: isPlain, hasEscapes: hasEscapes, range: start..<position,
                next: nodes.count + 1))
    }

    /// Steps over the closing bracket, or over the comma that must follow an item.
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

    private mutating func word(_ word: String, _ kind: JSONText.Node.Kind) throws(JSONError) {
        guard bytes[position...].starts(with: word.utf8) else { throw failure(.unexpected) }
        position += word.utf8.count
        add(kind, from: position - word.utf8.count)
    }

    private mutating func skipSpace() {
        while position < bytes.count, bytes[position] <= 0x20 {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
            oddities += 1
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

// No object has a member twice. Names are compared as bytes, because Swift takes some different
// texts for the same.
extension JSONReader {
    /// The names of an object, while it is read. Apple's objects are small: looking through a few
    /// names costs less than hashing one, and far less than preparing for the first set.
    fileprivate struct MemberNames {
        var count = 0
        /// Empty while there are few.
        var many: Set<[UInt8]> = []

        static let few = 16
    }

    /// Finds that no earlier member of an object has the name that was just read.
    fileprivate func checkName(of object: Int, _ names: inout MemberNames) throws(JSONError) {
        let name = nodes.count - 1
        names.count += 1
        let isNew =
            if names.count <= MemberNames.few {
                !hasEarlierName(object) { isSameText($0, name) }
            } else {
                insert(name, of: object, into: &names.many)
            }
        guard isNew else {
            let text = String(decoding: text(of: name), as: UTF8.self)
            throw failure(.duplicate(text), at: nodes[name].range.lowerBound)
        }
    }

    /// False when it was there already.
    private func insert(_ name: Int, of object: Int, into names: inout Set<[UInt8]>) -> Bool {
        if names.isEmpty {
            _ = hasEarlierName(object) { earlier in
                names.insert(text(of: earlier))
                return false
            }
        }
        return names.insert(text(of: name)).inserted
    }

    /// Whether one of the names that an object has before the newest is as wanted.
    private func hasEarlierName(_ object: Int, _ isWanted: (Int) -> Bool) -> Bool {
        var index = object + 1
        while index < nodes.count - 1 {
            if isWanted(index) { return true }
            index = nodes[index + 1].next
        }
        return false
    }

    private func isSameText(_ one: Int, _ other: Int) -> Bool {
        guard !nodes[one].hasEscapes, !nodes[other].hasEscapes else {
            return text(of: one) == text(of: other)
        }
        let (one, other) = (nodes[one].content, nodes[other].content)
        guard one.count == other.count else { return false }
        let text = bytes.span
        return text.extracting(one).isExactly(text.extracting(other))
    }

    private func text(of name: Int) -> [UInt8] {
        nodes[name].hasEscapes
            ? unescaped.text(of: name) : Array(bytes[nodes[name].content])
    }
}

// Numbers and strings have rules of their own.
extension JSONReader {
    fileprivate mutating func number() throws(JSONError) {
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
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        guard position > start else { throw failure(.number) }
    }

    fileprivate mutating func string() throws(JSONError) {
        let start = position
        position = plainEnd(from: start + 1)
        guard try peek() != UInt8(ascii: "\"") else {
            position += 1
            return add(.string, from: start)
        }
        // Nearly no text gets here.
        var text = Array(bytes[start + 1..<position])
        var hasEscapes = false
        while case let byte = try peek(), byte != UInt8(ascii: "\"") {
            position += 1
            switch byte {
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try escape(into: &text)
            case 0..<0x20: throw failure(.controlCharacter, at: position - 1)
            default: text.append(byte)
            }
        }
        position += 1
        guard (try? UTF8Span(validating: text.span)) != nil else {
            throw failure(.notUTF8, at: start)
        }
        if hasEscapes { unescaped.append(JSONText.Unescaped(node: nodes.count, text: text)) }
        add(.string, from: start, isPlain: false, hasEscapes: hasEscapes)
    }

    /// The end of the run of ASCII characters that need no escape.
    private func plainEnd(from start: Int) -> Int {
        bytes.span.index(from: start, JSON.markOddCharacters)
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

    /// The character after `\u`, which may take a second escape to spell.
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
