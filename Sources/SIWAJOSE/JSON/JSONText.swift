package import SIWACrypto

/// A JSON text that was read strictly, with its original bytes. Values are created only when they
/// are used: most of the dozen claims of a token are only compared, or written again.
package final class JSONText: Sendable {
    /// The text as it was read, in UTF-8.
    let bytes: [UInt8]
    /// Its values and the names of members. The values inside a value follow it; the value of a
    /// member follows its name.
    let nodes: [Node]
    /// The strings that have escapes, unescaped.
    let unescaped: [Unescaped]

    /// A value, or the name of a member. Small, so that the allocator serves the nodes of a token
    /// quickly.
    struct Node: Sendable {
        enum Kind: Sendable { case null, yes, no, integer, otherNumber, string, array, object }

        let kind: Kind
        /// Whether its bytes are those that ``JSON/bytes`` would write.
        var isPlain: Bool
        /// Whether it is among ``JSONText/unescaped``.
        let hasEscapes: Bool
        /// Of a string without escapes, its ``JSONText/mark(of:)``.
        let mark: UInt8
        /// Its place in the text; quotation marks and brackets are part of it.
        var range: Range<Int>
        /// The index of the next node that is not inside it.
        var next: Int
    }

    /// A string that has escapes, unescaped.
    struct Unescaped: Sendable {
        /// The index of its node.
        let node: Int
        let text: [UInt8]
    }

    /// Reads exactly one JSON value.
    ///
    /// - Throws: ``JSONError``, as ``JSON/init(_:)``.
    package init(_ bytes: [UInt8]) throws(JSONError) {
        var reader = JSONReader(bytes)
        try reader.read()
        (self.bytes, nodes, unescaped) = (reader.bytes, reader.nodes, reader.unescaped)
    }

    /// The whole text as a value.
    package var value: JSON { value(at: 0) }

    /// The member with this name; nil if this is not an object that has it.
    package subscript(name: String) -> JSON? { place(of: name).map { value(at: $0) } }

    /// The member with this name as a secret, without further copies; nil unless it is a string.
    package func secret(_ name: String) -> SecretBytes? {
        place(of: name).flatMap { isString(at: $0) ? secret(at: $0) : nil }
    }

    /// The member with this name in UTF-8, without further copies; nil unless it is a string.
    package func string(_ name: String) -> [UInt8]? {
        guard let place = place(of: name), isString(at: place) else { return nil }
        return bytes(at: place)
    }

    /// The text of a node that is a string, in UTF-8.
    func bytes(at index: Int) -> [UInt8] {
        let node = nodes[index]
        return node.hasEscapes ? unescaped.text(of: index) : Array(bytes[node.content])
    }

    /// A node as it was read.
    func source(at index: Int) -> [UInt8] { Array(bytes[nodes[index].range]) }

    /// The index of the value of a member; nil if this is not an object that has it.
    package func place(of name: String) -> Int? {
        isObject ? index(of: name.utf8.span).map { $0 + 1 } : nil
    }

    /// The node of a member's name.
    private func index(of name: Span<UInt8>) -> Int? {
        let all = nodes
        let nodes = all.span
        let mark = Self.mark(of: name)
        var index = 1
        while index < nodes.count {
            let node = nodes[index]
            if node.hasEscapes || node.mark == mark, isText(at: index, name) { return index }
            index = nodes[index + 1].next
        }
        return nil
    }

    package var isObject: Bool { nodes[0].kind == .object }

    /// Whether its bytes, without white space around them, are those that ``JSON/bytes`` would
    /// write.
    package var isPlain: Bool { nodes[0].isPlain }

    /// Calls `body` with the indices of each member's name and value, when this is an object.
    func forEachMember(_ body: (_ name: Int, _ value: Int) -> Void) {
        guard isObject else { return }
        var index = 1
        while index < nodes.count {
            body(index, index + 1)
            index = nodes[index + 1].next
        }
    }

    /// Calls `body` with the name and the index of the value of each member, when this is an object,
    /// that has none of these names.
    package func forEachMember(except names: [String], _ body: (String, Int) -> Void) {
        forEachMember { name, value in
            if !names.contains(where: { isText(at: name, $0.utf8.span) }) {
                body(string(at: name), value)
            }
        }
    }
}

extension JSONText {
    static let markCount = 64

    /// A number below ``markCount``: strings whose marks differ differ.
    @inline(__always)
    static func mark(of text: Span<UInt8>) -> UInt8 {
        guard text.count > 0 else { return 0 }
        let (first, last) = (text[0], text[text.count - 1])
        // With these factors, the names of ``Claim`` have different marks.
        let sum = UInt8(truncatingIfNeeded: text.count) &+ 5 &* first &+ 12 &* last
        return sum % UInt8(markCount)
    }

    /// The claim whose name is a node; nil for other names.
    func claim(at name: Int) -> Claim? {
        let node = nodes[name]
        guard !node.hasEscapes else {
            let text = unescaped.text(of: name)
            return Claim(text.span)
        }
        guard let claim = Claim.byMark[Int(node.mark)] else { return nil }
        let bytes = bytes
        return bytes.span.extracting(node.content).isExactly(claim.name) ? claim : nil
    }

    /// The value of a node.
    package func value(at index: Int) -> JSON {
        let node = nodes[index]
        switch node.kind {
        case .null: return .null
        case .yes: return true
        case .no: return false
        case .string: return .string(string(at: index))
        case .integer:
            return integer(at: index).map { .integer($0) }
                ?? .number(String(decoding: bytes[node.range], as: UTF8.self))
        case .otherNumber: return .number(String(decoding: bytes[node.range], as: UTF8.self))
        case .array: return .array(elements(of: index))
        case .object: return .object(members(of: index))
        }
    }

    /// The text of a node that is a string or the name of a member.
    func string(at index: Int) -> String {
        let node = nodes[index]
        if node.hasEscapes { return String(decoding: unescaped.text(of: index), as: UTF8.self) }
        return String(decoding: bytes[node.content], as: UTF8.self)
    }

    private func secret(at index: Int) -> SecretBytes {
        let node = nodes[index]
        let text = node.hasEscapes ? unescaped.text(of: index) : bytes
        let range = node.hasEscapes ? text.indices : node.content
        var secret = SecretBuffer(capacity: range.count)
        secret.append(contentsOf: text.span.extracting(range))
        return secret.finished()
    }

    func isString(at index: Int) -> Bool { nodes[index].kind == .string }

    func isFilledString(at index: Int) -> Bool {
        isString(at: index) && nodes[index].range.count > 2
    }

    /// Whether a node is this string.
    func isString(at index: Int, exactly other: String) -> Bool {
        isString(at: index) && isText(at: index, other.utf8.span)
    }

    /// Whether a node is this string or this member name.
    func isText(at index: Int, _ other: Span<UInt8>) -> Bool {
        let node = nodes[index]
        if node.hasEscapes { return unescaped.text(of: index).isExactly(other) }
        guard node.content.count == other.count else { return false }
        return bytes.isExactly(other, at: node.content)
    }

    /// The integer of a node; nil for other values, and for integers that do not fit.
    func integer(at index: Int) -> Int? {
        let node = nodes[index]
        guard node.kind == .integer else { return nil }
        // That many digits always fit.
        guard node.range.count < 19, bytes[node.range.lowerBound] != UInt8(ascii: "-") else {
            return Int(String(decoding: bytes[node.range], as: UTF8.self))
        }
        let bytes = bytes
        let digits = bytes.span.extracting(node.range)
        var number = 0
        for index in digits.indices { number = number &* 10 &+ Int(digits[index] &- 0x30) }
        return number
    }

    /// The value of a flag, as ``JSON/flag``.
    func flag(at index: Int) -> Bool? {
        switch nodes[index].kind {
        case .yes: true
        case .no: false
        case .string where isText(at: index, "true".utf8.span): true
        case .string where isText(at: index, "false".utf8.span): false
        default: nil
        }
    }

    private func elements(of array: Int) -> [JSON] {
        var elements: [JSON] = []
        var index = array + 1
        while index < nodes[array].next {
            elements.append(value(at: index))
            index = nodes[index].next
        }
        return elements
    }

    private func members(of object: Int) -> [JSON.Member] {
        var members: [JSON.Member] = []
        members.reserveCapacity(min((nodes[object].next - object) / 2, 8))
        var index = object + 1
        while index < nodes[object].next {
            members.append(JSON.Member(string(at: index), value(at: index + 1)))
            index = nodes[index + 1].next
        }
        return members
    }
}

extension JSONText: Hashable {
    /// Whether two texts have the same value.
    package static func == (one: JSONText, other: JSONText) -> Bool { one.value == other.value }

    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension JSONText.Node {
    /// What is between its quotation marks.
    var content: Range<Int> { range.lowerBound + 1..<range.upperBound - 1 }
}

extension [JSONText.Unescaped] {
    /// The string of a node, which is among these; they are in the order of the nodes.
    func text(of node: Int) -> [UInt8] {
        var places = indices
        while places.count > 1 {
            let middle = places.lowerBound + places.count / 2
            places =
                self[middle].node <= node
                ? middle..<places.upperBound : places.lowerBound..<middle
        }
        return places.isEmpty ? [] : self[places.lowerBound].text
    }
}
