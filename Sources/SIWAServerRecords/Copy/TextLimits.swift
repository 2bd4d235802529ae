internal import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// The values that a database cannot hold.
struct TextLimits: Equatable {
    /// Whether every text must be UTF-8.
    var requiresUTF8 = false
    /// Whether a text may contain the character NUL.
    var allowsNUL = true

    /// SQLite holds any bytes. PostgreSQL allows no NUL, and checks the encoding if it has one.
    ///
    /// - Throws: if the database has an encoding that cannot hold every text.
    init(of database: any Database, _ name: String) throws(DatabaseFailure) {
        guard database.dialect.takesArrays else { return }
        allowsNUL = false
        let encoding =
            try database.run("SELECT current_setting('server_encoding')").first?.first?.text ?? ""
        requiresUTF8 = encoding != "SQL_ASCII"
        guard ["UTF8", "SQL_ASCII"].contains(encoding) else {
            throw DatabaseFailure(
                .unusable,
                "\(name) has the encoding \(encoding), which cannot hold every text; "
                    + "create it with the encoding UTF8")
        }
    }

    init() {}

    /// Why a row of a table cannot be stored; nil if it can.
    func fault(of row: [Value], in table: CopiedTable) -> String? {
        for (column, value) in zip(table.columns, row) {
            guard let reason = fault(of: value, column.type) else { continue }
            return "\(table.name) \(table.description(of: row)): its \(column.name) \(reason)"
        }
        return nil
    }

    private func fault(of value: Value, _ type: Value.Element) -> String? {
        switch (value, type) {
        case (.null, _), (.integer, .integer), (.bytes, .bytes): nil
        case (.invalidText, .text) where requiresUTF8: "is not UTF-8"
        case (.text, .text), (.invalidText, .text):
            !allowsNUL && value.textBytes.contains(0) ? "contains a NUL" : nil
        default: "has another type than \(type.rawValue)"
        }
    }
}

extension CopiedTable {
    /// The key of a row, for messages.
    fileprivate func description(of row: [Value]) -> String {
        key(of: row).map { value in
            switch value {
            case .integer(let number): String(number)
            case .bytes(let bytes): bytes.prefix(6).hexadecimal
            default:
                "'\(String(decoding: value.textBytes, as: UTF8.self).withoutControls.clipped(to: 100))'"
            }
        }.joined(separator: " ")
    }
}
