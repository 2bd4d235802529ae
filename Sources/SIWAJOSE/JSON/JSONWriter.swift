internal import SIWACrypto

extension JSON {
    /// Marks the bytes of a word that are part of a multi-byte character, or must or may be
    /// escaped in a string.
    @inline(__always)
    static func markOddCharacters(_ word: UInt64) -> UInt64 {
        word.marking(UInt8(ascii: "\"")) | word.marking(UInt8(ascii: "\\"))
            | word.marking(below: 0x20) | word.marking(0x7F) | word
    }

    /// The value on one line, members in their order, with only the escapes that JSON requires.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value in UTF-8 on one line.
    package var bytes: [UInt8] {
        var writer = JSONWriter(indented: false)
        writer.write(self, depth: 0)
        return writer.output
    }

    /// The value for people: one member per line, indented by two spaces per level.
    package var indentedText: String {
        var writer = JSONWriter(indented: true)
        writer.write(self, depth: 0)
        return String(decoding: writer.output, as: UTF8.self)
    }
}

/// Writes values into a text.
struct JSONWriter {
    let indented: Bool
    var output: [UInt8]

    init(indented: Bool, output: consuming [UInt8] = []) {
        self.indented = indented
        self.output = consume output
        // malloc has lists of pieces of one size up to 1,000 bytes, and searches for longer ones; an
        // array has 32 of its own.
        if self.output.isEmpty { self.output.reserveCapacity(960) }
    }

    mutating func write(_ value: JSON, depth: Int) {
        switch value {
        case .null: append(word: "null")
        case .boolean(let flag): append(word: flag ? "true" : "false")
        case .integer(let number): append(number)
        case .number(let text): append(text)
        case .string(let text): quote(text)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for index in elements.indices {
                separate(index, depth)
                write(elements[index], depth: depth + 1)
            }
            close(UInt8(ascii: "]"), elements.isEmpty, depth)
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for index in members.indices {
                separate(index, depth)
                quote(members[index].name, before: ":")
                if indented { output.append(0x20) }
                write(members[index].value, depth: depth + 1)
            }
            close(UInt8(ascii: "}"), members.isEmpty, depth)
        }
    }

    /// Writes a text, or the value of one of its nodes, on one line.
    mutating func write(_ text: JSONText, at index: Int = 0) {
        let node = text.nodes[index]
        guard node.isPlain else { return write(text.value(at: index), depth: 0) }
        let (bytes, range) = (text.bytes, node.range)
        output.append(addingCapacity: range.count) {
            $0.append(contentsOf: bytes.span.extracting(range))
        }
    }

    private mutating func separate(_ index: Int, _ depth: Int) {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        newline(depth + 1)
    }

    private mutating func close(_ bracket: UInt8, _ isEmpty: Bool, _ depth: Int) {
        if !isEmpty { newline(depth) }
        output.append(bracket)
    }

    private mutating func newline(_ depth: Int) {
        guard indented else { return }
        output.append(0x0A)
        output.append(contentsOf: repeatElement(0x20, count: depth * 2))
    }

    private mutating func append(word: StaticString) {
        output.append(addingCapacity: word.utf8CodeUnitCount) { $0.append(word) }
    }

    private mutating func append(_ text: String) { output.append(contentsOf: text.utf8) }

    mutating func append(_ number: Int) {
        var digits = [20 of UInt8](repeating: 0)
        var start = digits.count
        var rest = number.magnitude
        repeat {
            start -= 1
            digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        if number < 0 { output.append(UInt8(ascii: "-")) }
        for index in start..<digits.count { output.append(digits[index]) }
    }

    /// - Parameters:
    ///   - left: what to write before it.
    ///   - right: what to write after it.
    mutating func quote(
        _ text: String, after left: Unicode.Scalar? = nil, before right: Unicode.Scalar? = nil
    ) {
        guard !quotePlain(text.utf8.span, left, right) else { return }
        if let left { output.append(UInt8(ascii: left)) }
        quoteEscaping(text)
        if let right { output.append(UInt8(ascii: right)) }
    }

    /// Writes a text that needs no escapes, as nearly all do; returns false without writing
    /// otherwise.
    private mutating func quotePlain(
        _ text: Span<UInt8>, _ left: Unicode.Scalar?, _ right: Unicode.Scalar?
    ) -> Bool {
        guard text.index(JSON.markOddCharacters) == text.count else { return false }
        output.append(addingCapacity: text.count + 4) { output in
            if let left { output.append(UInt8(ascii: left)) }
            output.append(UInt8(ascii: "\""))
            output.append(contentsOf: text)
            output.append(UInt8(ascii: "\""))
            if let right { output.append(UInt8(ascii: right)) }
        }
        return true
    }

    private mutating func quoteEscaping(_ text: String) {
        output.append(UInt8(ascii: "\""))
        defer { output.append(UInt8(ascii: "\"")) }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                output.append(UInt8(ascii: "\\"))
                output.append(contentsOf: scalar.utf8)
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            // More than JSON requires, because untrusted text is shown on terminals.
            case _ where scalar.controlsTerminals: escape(scalar)
            default: output.append(contentsOf: scalar.utf8)
            }
        }
    }

    private mutating func escape(_ scalar: Unicode.Scalar) {
        for unit in String(scalar).utf16 {
            let bytes = [UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)]
            append("\\u" + bytes.hexadecimal)
        }
    }
}
