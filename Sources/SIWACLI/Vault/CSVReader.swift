internal import SIWALifecycle

/// Reads CSV (RFC 4180) line by line: a quoted field may contain line ends.
struct CSVReader {
    private let delimiter: UInt8
    private var fields: [String] = []
    private var field: [UInt8] = []
    private var place = Place.start
    private var size = 0

    private enum Place {
        /// At the beginning of a field.
        case start
        case unquoted
        case quoted
        /// After a quotation mark that ends the field, or is the first half of a doubled one.
        case closed
    }

    /// - Parameter delimiter: between two fields.
    init(delimiter: UInt8) { self.delimiter = delimiter }

    /// Whether the next line continues a record.
    var isInsideRecord: Bool { place == .quoted }

    /// The fields of a record after its last line; nil if the next line continues it.
    ///
    /// - Parameter line: without its line end.
    /// - Throws: ``InvalidLine``; the next line then begins a record.
    mutating func record(after line: [UInt8]) throws(InvalidLine) -> [String]? {
        do throws(InvalidLine) {
            size += line.count + 1
            guard size <= Self.longest else { throw .tooLong }
            if place == .quoted { field.append(Self.lineFeed) }
            for byte in line { try take(byte) }
            guard place != .quoted else { return nil }
            try endField(dropsCarriageReturn: place == .unquoted)
        } catch {
            self = Self(delimiter: delimiter)
            throw error
        }
        defer { self = Self(delimiter: delimiter) }
        return fields
    }

    private mutating func take(_ byte: UInt8) throws(InvalidLine) {
        switch (place, byte) {
        case (.start, Self.quote): place = .quoted
        case (.quoted, Self.quote): place = .closed
        case (.closed, Self.quote):
            field.append(byte)
            place = .quoted
        case (.quoted, _): field.append(byte)
        case (_, delimiter):
            try endField()
            place = .start
        // The first byte of the line end.
        case (.closed, Self.carriageReturn): break
        case (.closed, _):
            throw InvalidLine(
                nil, "a quoted field is followed by something other than the delimiter")
        case (.unquoted, Self.quote):
            throw InvalidLine(nil, "a field that is not quoted contains a quotation mark")
        case (.start, _), (.unquoted, _):
            field.append(byte)
            place = .unquoted
        }
    }

    private mutating func endField(dropsCarriageReturn: Bool = false) throws(InvalidLine) {
        if dropsCarriageReturn, field.last == Self.carriageReturn { field.removeLast() }
        guard let text = String(validating: field, as: UTF8.self) else {
            throw InvalidLine(nil, "the line is not UTF-8")
        }
        fields.append(text)
        field = []
    }

    private static let quote = UInt8(ascii: "\"")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let lineFeed = UInt8(ascii: "\n")
    /// The longest record in bytes, the same as for a line of JSON.
    private static let longest = 1 << 16
}
