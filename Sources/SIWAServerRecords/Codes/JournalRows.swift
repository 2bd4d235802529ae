internal import SIWADatabases
internal import SIWALifecycle
internal import SIWAVaultRecords

// The journal of codes, within a writing transaction. Its times are in milliseconds.
extension Database {
    /// Decides about a request. A new code is noted before it is sent.
    func begin(_ request: CodeRequest, _ lease: Lease) throws(DatabaseFailure) -> CodeDecision {
        if let entry = try codeEntry(request.code) {
            guard entry.age >= CodeEntry.remembered, !entry.isLeased else {
                return entry.decision(about: request)
            }
            _ = try run("DELETE FROM code_journal WHERE code_sha256 = $1", request.code.value)
        }
        // If another process adds the code at the same time, this fails, and the decision is
        // repeated.
        _ = try run(
            """
            INSERT INTO code_journal (code_sha256, client_id, parameters, state, changed_at,
                lease_owner, lease_until)
            VALUES ($1, $2, $3, 'sent', \(dialect.moment), $4, \(dialect.moment) + $5)
            """,
            [
                request.code.value, .text(request.clientID.rawValue), .bytes(request.parameters),
            ] + lease.milliseconds)
        return .send
    }

    private func codeEntry(_ code: CodeDigest) throws(DatabaseFailure) -> CodeEntry? {
        let sql = """
            SELECT client_id, parameters, state, \(dialect.moment) - changed_at,
                CASE WHEN lease_until > \(dialect.moment) THEN 1 ELSE 0 END, key_number, answer
            FROM code_journal WHERE code_sha256 = $1 \(dialect.lockingRows)
            """
        guard let row = try run(sql, code.value).first else { return nil }
        do throws(DamagedColumn) {
            return try CodeEntry(row)
        } catch {
            // It is unknown whether the code was sent, so it must not be sent.
            throw DatabaseFailure(
                .recordDamaged, "an entry of the journal of codes is damaged: \(error.reason)")
        }
    }

    func renew(_ codes: [CodeDigest], _ lease: Lease) throws(DatabaseFailure) {
        _ = try run(
            """
            UPDATE code_journal SET lease_until = \(dialect.moment) + $3
            WHERE code_sha256 = $1 AND lease_owner = $2 AND state = 'sent'
            """, each: codes.map { [$0.value] + lease.milliseconds })
    }

    func finish(
        _ code: CodeDigest, _ outcome: CodeOutcome, by owner: String
    ) throws(DatabaseFailure) {
        let condition = "WHERE code_sha256 = $1 AND lease_owner = $2 AND state = 'sent'"
        let entry = [code.value, Value.text(owner)]
        let ending = "changed_at = \(dialect.moment), lease_until = 0"
        switch outcome {
        case .notSent: _ = try run("DELETE FROM code_journal \(condition)", entry)
        case .unanswered:
            _ = try run(
                "UPDATE code_journal SET state = 'unanswered', \(ending) \(condition)", entry)
        case .answered(let answer):
            _ = try run(
                """
                UPDATE code_journal SET state = 'answered', key_number = $3, answer = $4, \(ending)
                \(condition)
                """, entry + [.integer(answer.keyNumber), .bytes(answer.bytes)])
        }
    }

    /// Erases answers that can no longer be repeated.
    ///
    /// - Returns: the time until the next answer is due; nil if none is stored.
    func eraseAnswers(_ limit: Int) throws(DatabaseFailure) -> Duration? {
        let age = Value.integer(CodeEntry.replayed.wholeMilliseconds)
        _ = try run(
            """
            UPDATE code_journal SET key_number = NULL, answer = NULL WHERE code_sha256 IN (
                SELECT code_sha256 FROM code_journal
                WHERE answer IS NOT NULL AND changed_at <= \(dialect.moment) - $1
                ORDER BY changed_at LIMIT $2)
            """, age, .integer(limit))
        let next = try run(
            """
            SELECT changed_at - \(dialect.moment) + $1 FROM code_journal
            WHERE answer IS NOT NULL ORDER BY changed_at LIMIT 1
            """, age)
        return next.first.map { .milliseconds(max($0.first?.integer ?? 0, 0)) }
    }

    /// Erases the answers to some codes.
    func eraseAnswers(to codes: [CodeDigest]) throws(DatabaseFailure) {
        _ = try run(
            "UPDATE code_journal SET key_number = NULL, answer = NULL WHERE code_sha256 = $1",
            each: codes.map { [$0.value] })
    }

    /// The stored answers after a code, in the order of their codes.
    func keptAnswers(
        after code: CodeDigest?, _ limit: Int
    ) throws(DatabaseFailure) -> [KeptAnswer] {
        let sql = """
            SELECT code_sha256, client_id, key_number, answer FROM code_journal
            WHERE code_sha256 > $1 AND answer IS NOT NULL ORDER BY code_sha256 LIMIT $2
            """
        let rows = try run(sql, .bytes(code?.bytes ?? []), .integer(limit))
        return rows.compactMap { row in
            row[0].bytes.map { code in
                var rest = CheckedRow(Array(row.dropFirst()))
                let clientID = try? rest.clientID()
                return KeptAnswer(
                    code: CodeDigest(bytes: code), clientID: clientID,
                    answer: clientID == nil ? nil : try? rest.optionalSecret())
            }
        }
    }

    /// Ends all leases, because no process is running.
    func endCodeLeases() throws(DatabaseFailure) {
        _ = try run("UPDATE code_journal SET lease_until = 0 WHERE state = 'sent'")
    }
}

extension CodeDigest {
    fileprivate var value: Value { .bytes(bytes) }
}

extension CodeEntry {
    fileprivate init(_ row: [Value]) throws(DamagedColumn) {
        var row = CheckedRow(row)
        let clientID = try row.clientID()
        let parameters = try row.bytes("parameters")
        let state: State = try row.known("state")
        let age = try row.age()
        let isLeased = try row.integer("lease", in: 0...1) == 1
        self.init(
            clientID: clientID, parameters: parameters, state: state, age: age,
            isLeased: isLeased, answer: try row.optionalSecret())
    }
}
