internal import SIWACPostgres
internal import SIWALifecycle

// COPY, which does not go together with other statements: it has no place in a pipeline.
extension PostgresDatabase {
    func copy(
        _ rows: [[Value]], into table: String, _ columns: [String]
    ) throws(DatabaseFailure) {
        guard rows.count >= Self.fewestToCopy else {
            return try insertEach(rows, into: table, columns)
        }
        try sent(postgres.call.PQexitPipelineMode(connection))
        defer { _ = postgres.call.PQenterPipelineMode(connection) }
        let limit = WaitLimit(timeout)
        let names = columns.joined(separator: ", ")
        try sent(
            postgres.call.PQsendQuery(
                connection, "COPY \(table) (\(names)) FROM STDIN WITH (FORMAT binary)"))
        try endCopy(limit) { result in result.status == PGRES_COPY_IN }
        var part = PostgresBinary.beginningOfCopy
        for row in rows {
            PostgresBinary.append(row: row, to: &part)
            guard part.count >= Self.partOfCopy else { continue }
            try put(part, limit)
            part.removeAll(keepingCapacity: true)
        }
        try put(part + PostgresBinary.endOfCopy, limit)
        try sent(postgres.call.PQputCopyEnd(connection, nil))
        try endCopy(limit) { _ in false }
    }

    private func put(_ part: [UInt8], _ limit: WaitLimit) throws(DatabaseFailure) {
        try sent(
            part.withUnsafeBytes {
                postgres.call.PQputCopyData(
                    connection, $0.baseAddress?.assumingMemoryBound(to: CChar.self),
                    CInt(clamping: $0.count))
            })
        try wait(limit) { postgres.call.PQflush(connection) == 1 }
    }

    /// Reads what came back until there is no more, or until the server waits for rows; throws a
    /// failure.
    private func endCopy(
        _ limit: WaitLimit, unless isWaitingForRows: (borrowing PostgresResult) -> Bool
    ) throws(DatabaseFailure) {
        var failure: DatabaseFailure?
        while true {
            try awaitResult(limit)
            guard let result = PostgresResult(postgres, postgres.call.PQgetResult(connection))
            else {
                break
            }
            if isWaitingForRows(result) { return }
            if result.status != PGRES_COMMAND_OK { failure = failure ?? self.failure(result) }
            guard postgres.call.PQstatus(connection) == CONNECTION_OK else { throw lost() }
        }
        if let failure { throw failure }
    }

    /// Fewer are as quick in a pipeline.
    private static var fewestToCopy: Int { 50 }
    /// So many bytes are sent at a time.
    private static var partOfCopy: Int { 1 << 16 }
}
