/// PostgreSQL's binary format of values, with big-endian numbers.
enum PostgresBinary {
    /// An array of one dimension, numbered from 1.
    static func array(of element: Value.Element, _ values: [Value]) -> [UInt8] {
        var bytes: [UInt8] = []
        guard !values.isEmpty else {
            for number in [0, 0, element.type] { append(Int32(number), to: &bytes) }
            return bytes
        }
        let hasNull = values.contains { if case .null = $0 { true } else { false } } ? 1 : 0
        for number in [1, hasNull, element.type, values.count, 1] {
            append(Int32(clamping: number), to: &bytes)
        }
        for value in values { append(value, to: &bytes) }
        return bytes
    }

    /// The header of a COPY.
    static let beginningOfCopy =
        Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0]
        + [UInt8](
            repeating: 0, count: 8)

    /// The trailer of a COPY.
    static let endOfCopy: [UInt8] = [0xFF, 0xFF]

    /// Adds a row of a COPY, whose columns have the types of its values.
    static func append(row: [Value], to bytes: inout [UInt8]) {
        append(Int16(clamping: row.count), to: &bytes)
        for value in row { append(value, to: &bytes) }
    }

    private static func append(_ value: Value, to bytes: inout [UInt8]) {
        switch value {
        case .null: append(Int32(-1), to: &bytes)
        case .integer(let integer):
            append(Int32(8), to: &bytes)
            append(Int64(integer), to: &bytes)
        case .text(var text):
            text.withUTF8 { utf8 in
                append(Int32(clamping: utf8.count), to: &bytes)
                bytes += utf8
            }
        case .invalidText(let contents), .bytes(let contents):
            append(Int32(clamping: contents.count), to: &bytes)
            bytes += contents
        case .array(let element, let values):
            let contents = array(of: element, values)
            append(Int32(clamping: contents.count), to: &bytes)
            bytes += contents
        }
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
}

extension Value.Element {
    /// The ids of built-in types, which never change (PostgreSQL's pg_type.dat).
    fileprivate var type: Int {
        switch self {
        case .text: 25
        case .integer: 20
        case .bytes: 17
        }
    }
}
