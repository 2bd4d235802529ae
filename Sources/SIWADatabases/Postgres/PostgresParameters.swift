internal import SIWACPostgres

/// The values of a statement in libpq's format: numbers as text, because PostgreSQL converts them
/// only then, and the others in binary format.
struct PostgresParameters {
    private let bytes: [[UInt8]?]
    private let formats: [CInt]

    init(_ values: [Value]) {
        formats = values.map { value in
            switch value {
            case .text, .invalidText, .bytes, .array: 1
            case .null, .integer: 0
            }
        }
        bytes = values.map { value in
            switch value {
            case .null: nil
            case .integer(let integer): Array("\(integer)".utf8) + [0]
            case .array(let element, let values):
                PostgresBinary.array(of: element, values)
            case .text, .invalidText, .bytes: value.textBytes
            }
        }
    }

    /// Sends them; the answer will be in PostgreSQL's binary format.
    func send(_ name: String, on connection: OpaquePointer, _ postgres: siwa_postgres) -> CInt {
        // All values in one block, to which libpq receives pointers; one additional byte, so that
        // an empty block has an address.
        var block: [UInt8] = []
        block.reserveCapacity(bytes.reduce(1) { $0 + ($1?.count ?? 0) })
        for value in bytes { block += value ?? [] }
        block.append(0)
        return block.withUnsafeBytes { block in
            var offset = 0
            let places = bytes.map { value -> UnsafePointer<CChar>? in
                defer { offset += value?.count ?? 0 }
                guard value != nil, let start = block.baseAddress else { return nil }
                return (start + offset).assumingMemoryBound(to: CChar.self)
            }
            return postgres.call.PQsendQueryPrepared(
                connection, name, CInt(clamping: bytes.count), places,
                bytes.map { CInt(clamping: $0?.count ?? 0) }, formats, 1)
        }
    }
}
