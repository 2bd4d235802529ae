internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// How CSV differs from the one that siwa writes.
struct CSVOptions {
    /// The members whose columns have other names.
    let mappings: [ColumnMapping]
    /// Between two fields; nil for a comma.
    let givenDelimiter: UInt8?

    var delimiter: UInt8 { givenDelimiter ?? UInt8(ascii: ",") }
    var areGiven: Bool { !mappings.isEmpty || givenDelimiter != nil }
}

/// Which member of a token each column of CSV has.
struct ImportColumns {
    /// Nil for a column that is ignored.
    private let members: [String?]
    /// The names in the header.
    private let names: [String]

    /// The names of the members that an import reads.
    static let known =
        tokenNames + [
            "user_id", "client_id", "state", "stored_at", "changed_at", "checked_at",
            "signed_in_at",
        ]
    /// Two names of one member.
    private static let tokenNames = ["refresh_token", "token"]

    /// Reads a header. Names are compared without case.
    ///
    /// - Throws: ``Diagnosis`` if the user or the token has no column, a member has two, or there
    ///   is no column of a given name.
    init(
        header: SecretBytes, number: Int, _ reader: CSVReader, _ options: CSVOptions
    ) throws(Diagnosis) {
        if let (fault, remedy) = Self.foreignForm(of: header.revealed()) {
            throw Self.fault(number, fault, [remedy], [])
        }
        var reader = reader
        let fields = (try? reader.record(after: header.revealed())) ?? nil
        guard let fields else {
            throw Self.fault(
                number, "is not a header of CSV", Self.needed, Self.advice(header, options))
        }
        let columns = fields.map(Self.folded)
        names = fields.map(\.trimmingSpace)
        let wanted = Self.wanted(options)
        for mapping in options.mappings where !columns.contains(Self.folded(mapping.column)) {
            throw Self.fault(
                number, "has no column '\(printable(mapping.column))'",
                Self.shown(fields) + Self.advice(header, options), [])
        }
        let mapped = Set(options.mappings.map { Self.folded($0.column) })
        members = columns.map { column in
            wanted.first { $0.column == column && ($0.isMapped || !mapped.contains(column)) }?
                .member
        }
        let found = members.compactMap(\.self)
        guard Set(found).count == found.count else {
            let twice = found.first { name in found.count { $0 == name } > 1 } ?? ""
            throw Self.fault(
                number, "has the column of \(twice) twice",
                ["remove one of them, or choose one with --map \(twice)=COLUMN"], [])
        }
        let missing =
            (found.contains("user_id") ? [] : ["user_id"])
            + (Self.tokenNames.contains(where: found.contains) ? [] : ["refresh_token"])
        guard missing.isEmpty else {
            throw Self.fault(
                number,
                found.isEmpty
                    ? "is neither a JSON object nor a header of CSV"
                    : "has no column \(missing.map { "'\($0)'" }.joined(separator: " and no column "))",
                Self.shown(fields) + Self.needed, Self.advice(header, options, missing))
        }
    }

    /// What spreadsheets write and no header has, and how to change it; nil for another line.
    private static func foreignForm(of header: [UInt8]) -> (fault: String, remedy: String)? {
        if header.contains(0) {
            return (
                "has bytes that are zero, as UTF-16 has",
                "convert the file: iconv --from-code UTF-16 --to-code UTF-8 FILE"
            )
        }
        if header.count <= 6, String(decoding: header, as: UTF8.self).lowercased().hasPrefix("sep=")
        {
            return (
                "names the separator, as Excel does",
                "remove the line, and give the separator with --delimiter: tail -n +2 FILE"
            )
        }
        // One at the end belongs to the line end.
        if header.dropLast().contains(UInt8(ascii: "\r")) {
            return (
                "has carriage returns: the lines end without a line feed",
                "convert the file: tr '\\r' '\\n' < FILE"
            )
        }
        return nil
    }

    /// The name of the column of a member; nil if it has none.
    func column(of member: String) -> String? {
        let names = Self.tokenNames.contains(member) ? Self.tokenNames : [member]
        return members.firstIndex { $0.map(names.contains) ?? false }.map { self.names[$0] }
    }

    /// The members of a record; an empty field is an absent member.
    func members(of fields: [String]) throws(InvalidLine) -> [JSON.Member] {
        guard fields.count == members.count else {
            throw InvalidLine(
                nil, "the line has \(fields.count) fields, the header has \(members.count)")
        }
        return zip(members, fields).compactMap { name, field in
            name.flatMap { field.isEmpty ? nil : JSON.Member($0, .string(field)) }
        }
    }

    /// The column that each member is looked for in. A member that is mapped is looked for under no
    /// other name.
    private static func wanted(
        _ options: CSVOptions
    ) -> [(member: String, column: String, isMapped: Bool)] {
        let mapped = options.mappings.map(\.member)
        let hasToken = tokenNames.contains(where: mapped.contains)
        let others = known.filter { name in
            !mapped.contains(name) && !(hasToken && tokenNames.contains(name))
        }
        return options.mappings.map { ($0.member, folded($0.column), true) }
            + others.map { ($0, $0, false) }
    }

    private static func folded(_ name: String) -> String { name.trimmingSpace.lowercased() }

    private static let needed = [
        "expected: JSON lines, or a header with the columns user_id and refresh_token"
    ]

    private static func fault(
        _ number: Int, _ fault: String, _ hints: [String], _ advice: [String]
    ) -> Diagnosis {
        Diagnosis.negative(
            .invalidHeader, "line \(number) \(fault); nothing was imported",
            hints: hints + advice)
    }

    /// The names of the columns. Others than words are not shown: a file without a header begins
    /// with a token.
    private static func shown(_ fields: [String]) -> [String] {
        func isWord(_ name: String) -> Bool {
            name.utf8.count <= 30 && name.allSatisfy { $0.isLetter || "_- ".contains($0) }
        }
        return fields.allSatisfy(isWord) && fields.count > 1
            ? ["its columns: \(fields.joined(separator: ", "))"] : []
    }

    /// Whether a line may be a header: it has a separator.
    static func hasSeveral(_ line: SecretBytes) -> Bool {
        let bytes = line.revealed()
        return bytes.contains(UInt8(ascii: ",")) || separators.contains { bytes.contains($0.byte) }
    }

    /// The separators beside the comma, and how they are given.
    private static let separators: [(byte: UInt8, argument: String)] = [
        (UInt8(ascii: ";"), "';'"), (UInt8(ascii: "\t"), "tab"), (UInt8(ascii: "|"), "'|'"),
    ]

    /// Whether a separator would make several fields of a header in which the one in use makes one,
    /// or columns of those that are needed.
    private static func separates(
        _ byte: UInt8, _ header: SecretBytes, _ options: CSVOptions
    ) -> Bool {
        let bytes = header.revealed()
        guard byte != options.delimiter, bytes.contains(byte) else { return false }
        var reader = CSVReader(delimiter: byte)
        let fields = ((try? reader.record(after: bytes)) ?? nil) ?? []
        let columns = fields.map(folded)
        return !bytes.contains(options.delimiter)
            || wanted(options).contains { columns.contains($0.column) }
    }

    /// What to add to the command line.
    private static func advice(
        _ header: SecretBytes, _ options: CSVOptions, _ missing: [String] = []
    ) -> [String] {
        if let other = separators.first(where: { separates($0.byte, header, options) }) {
            return ["its fields are separated otherwise: add --delimiter \(other.argument)"]
        }
        guard !missing.isEmpty else { return [] }
        return [
            "if columns have other names, add "
                + missing.map { "--map \($0)=COLUMN" }.joined(separator: " ")
        ]
    }
}
