internal import SIWADatabases
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

// The tokens of the API.
extension Database {
    func apiTokens() throws(DatabaseFailure) -> APITokenPage {
        let sql = "SELECT name, sha256, scopes, created_at, expires_at FROM api_token ORDER BY name"
        var page = APITokenPage()
        for row in try run(sql) {
            do throws(DamagedColumn) {
                page.tokens.append(try APIToken(row))
            } catch {
                page.damaged.append(
                    StoreError(
                        .recordDamaged,
                        "API token '\(escaped(row[0].textBytes))' is damaged: \(error.reason)"))
            }
        }
        return page
    }

    func add(_ token: APIToken) throws(DatabaseFailure) -> Bool {
        let scopes = token.scopes.map(\.rawValue).sorted().joined(separator: " ")
        return try !run(
            """
            INSERT INTO api_token (name, sha256, scopes, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO NOTHING RETURNING 1
            """,
            [
                .text(token.name), .bytes(token.digest), .text(scopes),
                .integer(token.createdAt.seconds), Value(token.expiresAt?.seconds),
            ]
        ).isEmpty
    }

    func removeAPIToken(_ name: String) throws(DatabaseFailure) -> Bool {
        try !run("DELETE FROM api_token WHERE name = $1 RETURNING 1", .text(name)).isEmpty
    }
}

extension APIToken {
    fileprivate init(_ row: [Value]) throws(DamagedColumn) {
        var row = CheckedRow(row)
        let name = try row.text("name")
        let digest = try row.bytes("sha256")
        guard digest.count == 32 else { throw DamagedColumn("its sha256 has not 32 bytes") }
        var scopes: Set<APIScope> = []
        for text in try row.text("scopes").split(separator: " ") {
            guard let scope = APIScope(rawValue: String(text)) else {
                throw DamagedColumn("its scopes are unknown")
            }
            scopes.insert(scope)
        }
        let createdAt = try row.date("created_at")
        self.init(
            name: name, digest: digest, scopes: scopes, createdAt: createdAt,
            expiresAt: try row.optionalDate("expires_at"))
    }
}
