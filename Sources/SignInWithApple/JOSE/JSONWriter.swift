extension JSON {
    /// The value on one line, members in their order, nothing escaped that need not be.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value in UTF-8 on one line.
    public var bytes: [UInt8] {
        var writer = JSONWriter(indented: false)
        writer.write(self, depth: 0)
        return writer.output
    }

    /// The value for people: a member a line, two spaces a level.
    public var indentedText: String {
        var writer = JSONWriter(indented: true)
        writer.write(self, depth: 0)
        return String(decoding: writer.output, as: UTF8.self)
    }
}

private struct JSONWriter {
    let indented: Bool
    var output: [UInt8] = []

    init(indented: Bool) {
        self.indented = indented
        output.reserveCapacity(2048)
    }

    mutating func write(_ value: JSON, depth: Int) {
        switch value {
        case .null: append("null")
        case .boolean(let flag): append(flag ? "true" : "false")
        case .integer(let number): append(String(number))
        case .number(let text): append(text)
        case .string(let text): quote(text)
        case .array(let elements):
            list(elements, "[", "]", depth) { $0.write($1, depth: depth + 1) }
        case .object(let members):
            list(members, "{", "}", depth) { writer, member in
                writer.quote(member.name)
                writer.append(writer.indented ? ": " : ":")
                writer.write(member.value, depth: depth + 1)
            }
        }
    }

    private mutating func list<Item>(
        _ items: [Item], _ open: String, _ close: String, _ depth: Int,
        _ each: (inout JSONWriter, Item) -> Void
    ) {
        append(open)
        for (index, item) in items.enumerated() {
            if index > 0 { append(",") }
            newline(depth + 1)
            each(&self, item)
        }
        if !items.isEmpty { newline(depth) }
        append(close)
    }

    private mutating func newline(_ depth: Int) {
        guard indented else { return }
        output.append(0x0A)
        output.append(contentsOf: repeatElement(0x20, count: depth * 2))
    }

    private mutating func append(_ text: String) { output.append(contentsOf: text.utf8) }

    private mutating func quote(_ text: String) {
        output.append(UInt8(ascii: "\""))
        defer { output.append(UInt8(ascii: "\"")) }
        guard text.utf8.contains(where: { !Self.isPlain($0) }) else { return append(text) }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                output.append(UInt8(ascii: "\\"))
                output.append(contentsOf: scalar.utf8)
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            case _ where Self.drivesTerminals(scalar): escape(scalar)
            default: output.append(contentsOf: scalar.utf8)
            }
        }
    }

    /// Whether a byte stands for itself whatever is around it: nearly all of nearly every text.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// What a terminal obeys in place of showing. JSON asks for the escape of a part of
    /// these only; a refusal's text comes from outside, and ends on somebody's screen.
    private static func drivesTerminals(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII else { return scalar.value < 0x20 || scalar.value == 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private mutating func escape(_ scalar: Unicode.Scalar) {
        for unit in String(scalar).utf16 {
            append("\\u")
            for shift in [12, 8, 4, 0] { output.append(Self.hexadecimal[Int(unit >> shift & 15)]) }
        }
    }

    private static let hexadecimal = [UInt8]("0123456789abcdef".utf8)
}
