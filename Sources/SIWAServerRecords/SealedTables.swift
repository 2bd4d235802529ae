internal import SIWADatabases
internal import SIWALifecycle
package import SIWAVaultRecords

extension [SecretTable] {
    /// What siwa-server seals with the vault's keys: secrets of the outbox, then answers to codes.
    package static var server: [SecretTable] {
        [
            SecretTable(
                .jobs, name: "revocation_job", key: "id", secret: "sealed",
                columns: "client_id, token_fingerprint"
            ) { _, columns throws(DamagedColumn) in
                let clientID = try columns.clientID()
                return RevocationJob.place(of: try columns.fingerprint(), clientID)
            },
            SecretTable(
                .codes, name: "code_journal", key: "code_sha256", secret: "answer",
                columns: "client_id"
            ) { row, columns throws(DamagedColumn) in
                guard case .code(let digest) = row else { return [] }
                return CodeEntry.place(of: digest, try columns.clientID())
            },
        ]
    }
}
