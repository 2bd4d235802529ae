package import SIWAJOSE

/// A row with untrusted values, each of which is checked when it is read.
package struct CheckedRow {
    private let values: [Value]
    private var index = 0

    package init(_ values: [Value]) { self.values = values }

    /// The value of the next column.
    package mutating func next() throws(DamagedColumn) -> Value {
        guard index < values.count else { throw DamagedColumn("columns are missing") }
        defer { index += 1 }
        return values[index]
    }

    package mutating func text(_ column: String) throws(DamagedColumn) -> String {
        guard let text = try next().text else {
            throw DamagedColumn("its \(column) is not UTF-8")
        }
        return text
    }

    package mutating func optionalText(_ column: String) throws(DamagedColumn) -> String? {
        let value = try next()
        guard value != .null else { return nil }
        guard let text = value.text else { throw DamagedColumn("its \(column) is not UTF-8") }
        return text
    }

    package mutating func bytes(_ column: String) throws(DamagedColumn) -> [UInt8] {
        guard let bytes = try next().bytes else { throw DamagedColumn("it has no \(column)") }
        return bytes
    }

    package mutating func optionalBytes(_ column: String) throws(DamagedColumn) -> [UInt8]? {
        let value = try next()
        return value == .null ? nil : value.bytes
    }

    package mutating func integer(
        _ column: String, in range: ClosedRange<Int>
    ) throws(DamagedColumn) -> Int {
        guard let integer = try next().integer, range.contains(integer) else {
            throw DamagedColumn("its \(column) is out of range")
        }
        return integer
    }

    package mutating func optionalInteger(
        _ column: String, in range: ClosedRange<Int>
    ) throws(DamagedColumn) -> Int? {
        let value = try next()
        guard value != .null else { return nil }
        guard let integer = value.integer, range.contains(integer) else {
            throw DamagedColumn("its \(column) is out of range")
        }
        return integer
    }

    package mutating func date(_ column: String) throws(DamagedColumn) -> NumericDate {
        try next().date(column)
    }

    package mutating func optionalDate(_ column: String) throws(DamagedColumn) -> NumericDate? {
        let value = try next()
        return value == .null ? nil : try value.date(column)
    }

    /// A time that is stored in milliseconds.
    package mutating func optionalMoment(_ column: String) throws(DamagedColumn) -> NumericDate? {
        let value = try next()
        guard value != .null else { return nil }
        guard let milliseconds = value.integer else {
            throw DamagedColumn("its \(column) is out of range")
        }
        return try Value.integer(milliseconds / 1000).date(column)
    }

    /// An age in milliseconds, which is never negative.
    package mutating func age() throws(DamagedColumn) -> Duration {
        .milliseconds(max(try next().integer ?? 0, 0))
    }

    /// A value of an enumeration.
    package mutating func known<Known: RawRepresentable<String>>(
        _ column: String
    ) throws(DamagedColumn) -> Known {
        guard let known = try next().text.flatMap(Known.init) else {
            throw DamagedColumn("its \(column) is unknown")
        }
        return known
    }

    package mutating func optionalKnown<Known: RawRepresentable<String>>(
        _ column: String
    ) throws(DamagedColumn) -> Known? {
        let value = try next()
        guard value != .null else { return nil }
        guard let known = value.text.flatMap(Known.init) else {
            throw DamagedColumn("its \(column) is unknown")
        }
        return known
    }
}

extension ClosedRange<Int> {
    /// The possible HTTP statuses.
    package static let statuses = 100...999
}

extension Value {
    /// A time with a four-digit year, as RFC 3339 requires.
    package func date(_ column: String) throws(DamagedColumn) -> NumericDate {
        guard let seconds = integer, NumericDate(seconds).isWritable else {
            throw DamagedColumn("its \(column) is out of range")
        }
        return NumericDate(seconds)
    }

}

/// A column of a row has a value that siwa never writes.
package struct DamagedColumn: Error, CustomStringConvertible {
    /// What is wrong, as a sentence without a full stop.
    package let reason: String

    package var description: String { reason }

    package init(_ reason: String) { self.reason = reason }
}
