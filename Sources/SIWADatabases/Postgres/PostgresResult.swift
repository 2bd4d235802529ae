internal import SIWACPostgres

/// The server's answer to one statement.
struct PostgresResult: ~Copyable {
    private let postgres: siwa_postgres
    private let pointer: OpaquePointer

    /// Takes ownership of a result; nil for a null pointer.
    init?(_ postgres: siwa_postgres, _ pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        (self.postgres, self.pointer) = (postgres, pointer)
    }

    deinit { postgres.call.PQclear(pointer) }

    var status: ExecStatusType { postgres.call.PQresultStatus(pointer) }

    /// The server's code for a failure; nil for a failure of libpq.
    var state: SQLState? { field(siwa_sql_state).map(SQLState.init) }

    /// The server's message.
    var message: String { field(siwa_primary_message) ?? "" }

    private func field(_ code: CInt) -> String? {
        postgres.call.PQresultErrorField(pointer, code).map { String(cString: $0) }
    }

    var rows: [[Value]] {
        (0..<postgres.call.PQntuples(pointer)).map { row in
            (0..<postgres.call.PQnfields(pointer)).map { value(row, $0) }
        }
    }

    private func value(_ row: CInt, _ column: CInt) -> Value {
        guard postgres.call.PQgetisnull(pointer, row, column) == 0 else { return .null }
        let bytes = UnsafeRawBufferPointer(
            start: postgres.call.PQgetvalue(pointer, row, column),
            count: Int(postgres.call.PQgetlength(pointer, row, column)))
        switch postgres.call.PQftype(pointer, column) {
        case Self.int2, Self.int4, Self.int8: return Self.integer(bytes)
        case Self.text: return Value(textOf: Array(bytes))
        default: return .bytes(Array(bytes))
        }
    }

    // The ids of built-in types, which never change (PostgreSQL's pg_type.dat).
    private static let (int2, int4, int8, text) = (Oid(21), Oid(23), Oid(20), Oid(25))

    /// Big-endian, in two's complement.
    private static func integer(_ bytes: UnsafeRawBufferPointer) -> Value {
        let isNegative = bytes.first.map { $0 >= 0x80 } ?? false
        return .integer(bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int($1) })
    }
}
