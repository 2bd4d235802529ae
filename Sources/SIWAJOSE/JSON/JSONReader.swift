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
    let bytes: [UInt8]
    var position = 0
    /// See ``JSONText``.
    private(set) var nodes: [JSONText.Node] = []
    var unescaped: [JSONText.Unescaped] = []
    /// The number of spaces and values that a writer would write differently.
    private var oddities = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func read() throws(JSONError) {
        // Enough for the claims of a token.
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
        if try !next(isClosing: UInt8(ascii: "}")) {
            repeat {
                skipSpace()
                guard try peek() == UInt8(ascii: "\"") else { throw failure(.unexpected) }
                try string()
                try checkName(of: object, &names)
                skipSpace()
                guard try peek() == UInt8(ascii: ":") else { throw failure(.unexpected) }
                position += 1
                try value(depth: depth)
            } while try !next(isClosing: UInt8(ascii: "}"), afterItem: true)
        }
        end(object, isPlain: oddities == self.oddities)
    }

    private mutating func array(depth: Int) throws(JSONError) {
        let (array, oddities) = (begin(.array), oddities)
        if try !next(isClosing: UInt8(ascii: "]")) {
            repeat {
                try value(depth: depth)
            } while try !next(isClosing: UInt8(ascii: "]"), afterItem: true)
        }
        end(array, isPlain: oddities == self.oddities)
    }

    /// Skips an opening bracket, and returns the index of its node.
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
    mutating func add(
        _ kind: JSONText.Node.Kind, from start: Int, isPlain: Bool = true, hasEscapes: Bool = false,
        mark: UInt8 = 0
    ) {
        if !isPlain { oddities += 1 }
        nodes.append(
            JSONText.Node(
                kind: kind, isPlain: isPlain, hasEscapes: hasEscapes, mark: mark,
                range: start..<position, next: nodes.count + 1))
    }

    /// Skips the closing bracket, or the comma that must follow an item.
    private mutating func next(
        isClosing bracket: UInt8, afterItem: Bool = false
    ) throws(JSONError) -> Bool {
        skipSpace()
        let byte = try peek()
        if byte == bracket {
            position += 1
            return true
        }
        guard afterItem else { return false }
        guard byte == UInt8(ascii: ",") else { throw failure(.unexpected) }
        position += 1
        return false
    }

    private mutating func word(
        _ word: StaticString, _ kind: JSONText.Node.Kind
    ) throws(JSONError) {
        let (start, end) = (position, position + word.utf8CodeUnitCount)
        guard end <= bytes.count, bytes.span.extracting(start..<end).isExactly(word) else {
            throw failure(.unexpected)
        }
        position = end
        add(kind, from: start)
    }

    @inline(__always)
    private mutating func skipSpace() {
        // Tokens have no space.
        if position < bytes.count, bytes[position] <= 0x20 { skipSpaces() }
    }

    private mutating func skipSpaces() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
            oddities += 1
        }
    }

    func peek() throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw failure(.ended) }
        return bytes[position]
    }

    func failure(_ reason: JSONError.Reason, at offset: Int? = nil) -> JSONError {
        let offset = offset ?? position
        let line = 1 + bytes[..<min(offset, bytes.count)].count { $0 == 0x0A }
        return JSONError(reason: reason, offset: offset, line: line)
    }
}
