internal import SIWADatabases
package import SIWALifecycle
internal import Synchronization

/// That a database is the vault which a process has opened, and not another one: a database that was
/// renamed, a failover or a pooler leads new connections elsewhere, where everything could be stored.
package final class VaultProof: Sendable {
    private let fault: @Sendable ([VaultKeyCheck]) -> StoreError?
    /// The newest key of the vault when it was proved last.
    private let proved = Mutex<VaultKeyCheck?>(nil)

    /// - Parameter fault: why the vault with these keys is another one; nil if it is not.
    package init(_ fault: @escaping @Sendable ([VaultKeyCheck]) -> StoreError?) {
        self.fault = fault
    }

    /// The last columns of a query: what identifies the vault, its newest key.
    static func columns(of proof: VaultProof?) -> [String] {
        proof == nil
            ? []
            : ["number", "check_value"].map {
                "(SELECT \($0) FROM vault_key ORDER BY number DESC LIMIT 1)"
            }
    }

    /// - Parameter row: the values of a query with these columns.
    func require(_ row: [Value], in database: any Database) throws(DatabaseFailure) {
        let newest = row.dropLast().last?.integer.flatMap { number in
            row.last?.bytes.map { VaultKeyCheck(number: number, sealed: $0) }
        }
        guard newest == nil || newest != proved.withLock(\.self) else { return }
        let checks = try database.keyChecks()
        // The next connection may lead to the vault again.
        if let fault = fault(checks) { throw DatabaseFailure(fault, .disconnection) }
        proved.withLock { $0 = checks.last }
    }
}
