import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// A way between two databases.
struct CopyWay: Sendable, CustomTestStringConvertible {
    let source: SQLBackend
    let target: SQLBackend

    var testDescription: String { "\(source.rawValue) to \(target.rawValue)" }

    static let all = SQLBackend.available.flatMap { source in
        SQLBackend.available.map { Self(source: source, target: $0) }
    }
}

extension SQLStoreFixture {
    /// The copy of this vault to another database.
    func copy(
        to target: any SQLStoreFixture, pageSize: Int = 7,
        _ wrap: (any DatabaseConnector) -> any DatabaseConnector = { $0 }
    ) throws -> SQLVaultCopy {
        SQLVaultCopy(
            from: CopySource(wrap(try connector(timeout: .seconds(60))), url),
            to: CopyTarget(wrap(try target.connector(timeout: .seconds(60))), target.url),
            pageSize: pageSize)
    }

    /// Copies this vault.
    @discardableResult
    func copied(to target: any SQLStoreFixture) throws -> [VaultTableCopy] {
        guard case .copied(let tables) = try copy(to: target).run({ _ in }) else {
            throw Unfinished()
        }
        return tables
    }

    /// The rows of all tables that are copied, by table.
    func rows() throws -> [String: Set<[Value]>] {
        let database = try connect()
        var rows: [String: Set<[Value]>] = [:]
        for table in CopiedTable.vault + CopiedTable.server {
            rows[table.name] = Set(try table.page(after: nil, 1_000_000, in: database))
        }
        return rows
    }

    /// Fills a new vault with random rows in every table, also with values that siwa never writes.
    func fill(_ count: Int, oddTexts: [[UInt8]], _ random: inout SeededRandom) throws {
        _ = try preparedServerStore()
        let database = try connect()
        _ = try database.run("DELETE FROM vault_key")
        _ = try database.run("DELETE FROM server_count")
        for table in CopiedTable.vault + CopiedTable.server {
            for row in RandomRows(table, oddTexts).rows(count, &random) {
                try table.add([row], to: database)
            }
        }
    }
}

struct Unfinished: Error {}

/// Random rows of a table with different keys.
struct RandomRows {
    private let table: CopiedTable
    private let texts: [[UInt8]]

    init(_ table: CopiedTable, _ texts: [[UInt8]]) { (self.table, self.texts) = (table, texts) }

    func rows(_ count: Int, _ random: inout SeededRandom) -> [[Value]] {
        var keys: Set<[Value]> = []
        return (0..<count).compactMap { number in
            let row = table.columns.map { column in
                value(of: column, number, &random)
            }
            return keys.insert(table.key(of: row)).inserted ? row : nil
        }
    }

    private func value(
        of column: RowList.Column, _ number: Int, _ random: inout SeededRandom
    ) -> Value {
        let isNullable =
            !table.key.contains(column.name) && Self.nullable.contains(column.name)
            && !(table.name == "code_journal" && column.name == "lease_owner")
            && !(table.name == "vault_token" && column.name == "key_number")
            && !(table.name != "revocation" && table.name != "revocation_job"
                && ["client_id", "user_id"].contains(column.name))
            && !(table.name == "revocation_job" && column.name == "client_id")
            && !(table.name == "inbox_event" && column.name == "expires_at")
            && !(table.name == "vault_token" && column.name == "sealed")
        if isNullable, Int.random(in: 0..<3, using: &random) == 0 { return .null }
        switch column.type {
        case .integer:
            // Numbers of rows, which the database continues.
            if ["id", "position"].contains(column.name) { return .integer(number * 3 + 1) }
            return .integer(
                [.min, .max, -1, 0, number, Int.random(in: 0..<2_000_000_000, using: &random)]
                    .randomElement(using: &random) ?? 0)
        case .bytes:
            return .bytes(random.bytes(Int.random(in: 0..<80, using: &random)))
        case .text where column.name == "state" && table.name == "revocation_job":
            // Only one job of a token is pending.
            return .text("revoked")
        case .text:
            // Some columns are unique.
            let isUnique = ["jti", "revocation_id"].contains(column.name)
            let odd = texts.randomElement(using: &random) ?? []
            return Value(textOf: odd + (isUnique ? Array("-\(number)".utf8) : []))
        }
    }

    private static let nullable: Set = [
        "checked_at", "lease_owner", "given_back_at", "signed_in_at", "evidence",
        "http_status", "apple_request_id", "new_user_id", "due_at", "holds_until", "last_error",
        "last_error_code",
        "body", "key_number", "answer", "client_id", "user_id", "ended_at", "was_active",
        "refresh_status", "sealed", "expires_at",
    ]
}
