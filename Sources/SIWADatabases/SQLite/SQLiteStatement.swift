internal import SIWACSQLite

/// A prepared statement.
final class SQLiteStatement {
    private let sqlite: siwa_sqlite
    private let pointer: OpaquePointer
    /// SQLite's indices of `$1`, `$2`, …, as far as they were set.
    private var indices: [CInt] = []
    /// The bound texts and bytes, one after the other: SQLite would allocate memory for each.
    private var bound = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    init(_ sqlite: siwa_sqlite, owning pointer: OpaquePointer) {
        (self.sqlite, self.pointer) = (sqlite, pointer)
    }

    deinit {
        _ = sqlite.call.sqlite3_finalize(pointer)
        bound.deallocate()
    }

    /// Sets `$1`, `$2`, …, which are names for SQLite, numbered by their first appearance. A value
    /// that a statement does not use has index 0, which SQLite refuses; this is ignored.
    func bind(_ values: [Value]) {
        while indices.count < values.count {
            let name = "$\(indices.count + 1)"
            indices.append(sqlite.call.sqlite3_bind_parameter_index(pointer, name))
        }
        makeRoom(for: values)
        var end = 0
        for (index, value) in zip(indices, values) {
            switch value {
            case .null, .array: _ = sqlite.call.sqlite3_bind_null(pointer, index)
            case .integer(let integer):
                _ = sqlite.call.sqlite3_bind_int64(pointer, index, Int64(integer))
            case .text(let text):
                let place = copy(text.utf8, to: &end)
                _ = siwa_bind_text(sqlite, pointer, index, place.baseAddress, place.count)
            case .invalidText(let bytes):
                let place = copy(bytes, to: &end)
                _ = siwa_bind_text(sqlite, pointer, index, place.baseAddress, place.count)
            case .bytes(let bytes):
                let place = copy(bytes, to: &end)
                _ = siwa_bind_bytes(sqlite, pointer, index, place.baseAddress, place.count)
            }
        }
    }

    /// Nothing is bound now: ``reset()`` has cleared it.
    private func makeRoom(for values: [Value]) {
        let count = values.reduce(0) { $0 + $1.byteCount }
        guard count > bound.count else { return }
        bound.deallocate()
        bound = .allocate(byteCount: max(count, 512), alignment: 1)
    }

    private func copy(
        _ bytes: some Collection<UInt8>, to end: inout Int
    ) -> UnsafeRawBufferPointer {
        let place = UnsafeMutableRawBufferPointer(rebasing: bound[end..<end + bytes.count])
        place.copyBytes(from: bytes)
        end += bytes.count
        return UnsafeRawBufferPointer(place)
    }

    /// Advances to the next row, or to the end.
    func step() -> CInt { sqlite.call.sqlite3_step(pointer) }

    /// The values of the current row.
    func row() -> [Value] {
        (0..<sqlite.call.sqlite3_column_count(pointer)).map { column in
            switch sqlite.call.sqlite3_column_type(pointer, column) {
            case SQLITE_NULL: .null
            case SQLITE_INTEGER: .integer(Int(sqlite.call.sqlite3_column_int64(pointer, column)))
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
        let start = sqlite.call.sqlite3_column_blob(pointer, column)
        let count = Int(sqlite.call.sqlite3_column_bytes(pointer, column))
        return Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// Resets the statement, without values.
    func reset() {
        _ = sqlite.call.sqlite3_reset(pointer)
        _ = sqlite.call.sqlite3_clear_bindings(pointer)
    }
}

extension Value {
    /// The length of a text or of bytes.
    fileprivate var byteCount: Int {
        switch self {
        case .null, .array, .integer: 0
        case .text(let text): text.utf8.count
        case .invalidText(let bytes), .bytes(let bytes): bytes.count
        }
    }
}
