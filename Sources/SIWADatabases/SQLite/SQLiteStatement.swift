internal import SIWACSQLite

/// A prepared statement.
final class SQLiteStatement {
    private let sqlite: siwa_sqlite
    private let pointer: OpaquePointer
    /// SQLite's indices of `$1`, `$2`, …, as far as they were set.
    private var indices: [CInt] = []

    init(_ sqlite: siwa_sqlite, owning pointer: OpaquePointer) {
        (self.sqlite, self.pointer) = (sqlite, pointer)
    }

    deinit { _ = sqlite.sqlite3_finalize(pointer) }

    /// Sets `$1`, `$2`, …, which are names for SQLite, numbered by their first appearance. A value
    /// that a statement does not use has index 0, which SQLite refuses; this is ignored.
    func bind(_ values: [Value]) {
        while indices.count < values.count {
            let name = "$\(indices.count + 1)"
            indices.append(sqlite.sqlite3_bind_parameter_index(pointer, name))
        }
        for (index, value) in zip(indices, values) {
            switch value {
            case .null, .array: _ = sqlite.sqlite3_bind_null(pointer, index)
            case .integer(let integer):
                _ = sqlite.sqlite3_bind_int64(pointer, index, Int64(integer))
            case .text(let text):
                var text = text
                _ = text.withUTF8 {
                    siwa_bind_text(sqlite, pointer, index, $0.baseAddress, $0.count)
                }
            case .invalidText(let bytes):
                _ = bytes.withUnsafeBytes {
                    siwa_bind_text(sqlite, pointer, index, $0.baseAddress, $0.count)
                }
            case .bytes(let bytes):
                _ = bytes.withUnsafeBytes {
                    siwa_bind_bytes(sqlite, pointer, index, $0.baseAddress, $0.count)
                }
            }
        }
    }

    /// Advances to the next row, or to the end.
    func step() -> CInt { sqlite.sqlite3_step(pointer) }

    /// The values of the current row.
    func row() -> [Value] {
        (0..<sqlite.sqlite3_column_count(pointer)).map { column in
            switch sqlite.sqlite3_column_type(pointer, column) {
            case SQLITE_NULL: .null
            case SQLITE_INTEGER: .integer(Int(sqlite.sqlite3_column_int64(pointer, column)))
            case SQLITE_TEXT: text(in: column)
            default: .bytes(bytes(in: column))
            }
        }
    }

    private func text(in column: CInt) -> Value {
        Value(textOf: bytes(in: column))
    }

    private func bytes(in column: CInt) -> [UInt8] {
        // In this order, because requesting the number of bytes may move them.
        let start = sqlite.sqlite3_column_blob(pointer, column)
        let count = Int(sqlite.sqlite3_column_bytes(pointer, column))
        return Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// Resets the statement, without values.
    func reset() {
        _ = sqlite.sqlite3_reset(pointer)
        _ = sqlite.sqlite3_clear_bindings(pointer)
    }
}
