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

    init(indented: Bool) { self.indented = indented }

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
        append("\n")
        append(String(repeating: "  ", count: depth))
    }

    private mutating func append(_ text: String) { output.append(contentsOf: text.utf8) }

    private mutating func quote(_ text: String) {
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(byte)
            case UInt8(ascii: "\n"): append("\\n")
            case UInt8(ascii: "\r"): append("\\r")
            case UInt8(ascii: "\t"): append("\\t")
            case 0..<0x20, 0x7F:
                // DEL needs no escape, but a terminal should not receive it either.
                append("\\u00")
                output.append(Self.hexadecimal[Int(byte >> 4)])
                output.append(Self.hexadecimal[Int(byte & 15)])
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    private static let hexadecimal = [UInt8]("0123456789abcdef".utf8)
}
