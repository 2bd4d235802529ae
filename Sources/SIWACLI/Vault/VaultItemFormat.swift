internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The two formats of `siwa vault import`: JSON lines, and CSV with the names of the members as its
/// header.
enum VaultItemFormat {
    case jsonLines
    case csv(ImportColumns, CSVReader)

    /// Recognizes the format by the first line; nil if it has nothing of either.
    ///
    /// - Throws: ``Diagnosis`` for a header without the columns that a token needs: every further
    ///   line would be wrong, too.
    init?(firstLine: SecretBytes, number: Int, _ options: CSVOptions) throws(Diagnosis) {
        if firstLine.startsObject {
            guard !options.areGiven else {
                throw Diagnosis(
                    .usage, "--map and --delimiter are for CSV, and the input is JSON lines",
                    hints: ["leave them out, or name the file with the CSV"], exitCode: .usage)
            }
            self = .jsonLines
            return
        }
        guard options.areGiven || ImportColumns.hasSeveral(firstLine) else { return nil }
        let reader = CSVReader(delimiter: options.delimiter)
        self = .csv(try ImportColumns(header: firstLine, number: number, reader, options), reader)
    }

    /// A first line that has nothing of either format.
    static let unknown = InvalidLine(
        nil,
        "the line is neither a JSON object nor a header of CSV with the columns user_id and "
            + "refresh_token")

    /// Whether the next line continues a record.
    var isInsideRecord: Bool {
        if case .csv(_, let reader) = self { reader.isInsideRecord } else { false }
    }

    /// The same fault in the words of the input: a member that is missing in a record of CSV is an
    /// empty field.
    func worded(_ fault: InvalidLine) -> InvalidLine {
        guard case .csv(let columns, _) = self, let member = fault.missingMember,
            let column = columns.column(of: member)
        else { return fault }
        return InvalidLine(fault.id, "the column '\(printable(column))' is empty")
    }

    /// The JSON object of a line, or the one made of a record of CSV: an empty field is an
    /// absent member. Nil if the record continues in the next line.
    ///
    /// - Throws: ``InvalidLine``.
    mutating func object(_ line: SecretBytes) throws(InvalidLine) -> SecretBytes? {
        guard case .csv(let columns, var reader) = self else { return line }
        defer { self = .csv(columns, reader) }
        guard let fields = try reader.record(after: line.revealed()) else { return nil }
        return SecretBytes(JSON.object(try columns.members(of: fields)).bytes)
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
