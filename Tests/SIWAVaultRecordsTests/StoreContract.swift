import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// A guarantee of ``VaultStore``, which every store must satisfy.
struct StoreContract: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let check: @Sendable (any StoreFixture) async throws -> Void

    init(_ name: String, _ check: @escaping @Sendable (any StoreFixture) async throws -> Void) {
        (testDescription, self.check) = (name, check)
    }

    static let all =
        making + reading + changing + claiming + contending + tokens + history
}

/// A place for one vault.
protocol StoreFixture: Sendable {
    /// The vault as one more process sees it.
    func store() throws -> any VaultStore
    /// Brings the end of a lease of a second nearer.
    func passTime()
}

extension StoreFixture {
    /// A new vault with one key in it.
    func vault() throws -> any VaultStore {
        let store = try store()
        try store.create(.first)
        return store
    }
}

@Suite(.blocking) struct MemoryTests {
    @Test(arguments: StoreContract.all) func `a store in memory satisfies the contract:`(
        _ contract: StoreContract
    )
        async throws
    {
        try await contract.check(MemoryStoreFixture())
    }
}

@Suite(.blocking) struct SQLiteTests {
    @Test(arguments: StoreContract.all) func `a store in a file satisfies the contract:`(
        _ contract: StoreContract
    )
        async throws
    {
        try await contract.check(SQLiteStoreFixture())
    }
}

@Suite(
    .enabled(
        if: PostgresServer.isAvailable, "needs PostgreSQL's server: Debian's package postgresql"),
    .blocking) struct PostgresTests
{
    @Test(arguments: StoreContract.all)
    func `a store on a server satisfies the contract:`(_ contract: StoreContract) async throws {
        try await contract.check(PostgresStoreFixture())
    }
}

private struct MemoryStoreFixture: StoreFixture {
    private let memory = MemoryVaultStore()

    func store() -> any VaultStore { memory }
    func passTime() { memory.advance(by: .milliseconds(600)) }
}
