internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The two formats of `siwa vault import`: JSON lines, and CSV with the names of the members as its
/// header.
enum VaultItemFormat {
    case jsonLines
    case csv(columns: [String], CSVReader)

    /// Recognizes the format by the first line: CSV has a column `user_id`.
    ///
    /// - Throws: ``InvalidLine`` for CSV without a column for the token, and for a repeated column.
    init(firstLine: SecretBytes) throws(InvalidLine) {
        var reader = CSVReader()
        guard let columns = try? reader.record(after: firstLine.revealed()),
            columns.contains("user_id")
        else {
            guard firstLine.startsObject else { throw Self.unknown(firstLine) }
            self = .jsonLines
            return
        }
        guard columns.contains("refresh_token") || columns.contains("token") else {
            throw InvalidLine(nil, "the header has no column 'refresh_token'")
        }
        guard Set(columns).count == columns.count else {
            throw InvalidLine(nil, "the header has a column twice")
        }
        self = .csv(columns: columns, reader)
    }

    /// The first line is neither JSON nor a header.
    private static func unknown(_ line: SecretBytes) -> InvalidLine {
        let text = String(decoding: line.revealed(), as: UTF8.self)
        let slip =
            text.contains(";")
            ? ": it has semicolons in place of commas"
            : text.contains("\t")
                ? ": it has tabs in place of commas"
                : text.lowercased().mentions("user_id") ? ": names are in lower case" : ""
        return InvalidLine(
            nil,
            "the line is neither a JSON object nor a header of CSV with the columns user_id and "
                + "refresh_token" + slip)
    }

    /// Whether the next line continues a record.
    var isInsideRecord: Bool {
        if case .csv(_, let reader) = self { reader.isInsideRecord } else { false }
    }

    /// The JSON object of a line, or the one made of a record of CSV: an empty field is an
    /// absent member. Nil if the record continues in the next line.
    ///
    /// - Throws: ``InvalidLine``.
    mutating func object(_ line: SecretBytes) throws(InvalidLine) -> SecretBytes? {
        guard case .csv(let columns, var reader) = self else { return line }
        defer { self = .csv(columns: columns, reader) }
        guard let fields = try reader.record(after: line.revealed()) else { return nil }
        guard fields.count == columns.count else {
            throw InvalidLine(
                nil, "the line has \(fields.count) fields, the header has \(columns.count)")
        }
        let members = zip(columns, fields).filter { !$1.isEmpty }.map {
            JSON.Member($0, .string($1))
        }
        return SecretBytes(JSON.object(members).bytes)
    }
}

extension SecretBytes {
    /// Whether they begin as a JSON object does.
    fileprivate var startsObject: Bool {
        withSpan { bytes in
            bytes.indices.first { ![0x20, 0x09, 0x0D].contains(bytes[$0]) }
                .map { bytes[$0] == UInt8(ascii: "{") } ?? false
        }
    }
}
