import SignInWithApple
import TestSupport
import Testing

/// Something that ``VaultStore`` promises: kept by every store, or it is no store.
struct Promise: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let check: @Sendable (any Ground) async throws -> Void

    init(_ name: String, _ check: @escaping @Sendable (any Ground) async throws -> Void) {
        (testDescription, self.check) = (name, check)
    }

    static let all =
        making + reading + changing + claiming + contending + tokens + history
}

/// A place for one vault.
protocol Ground: Sendable {
    /// The vault as one more process sees it.
    func store() throws -> any VaultStore
    /// Brings the end of a lease of a second nearer.
    func passTime()
}

extension Ground {
    /// A new vault with one key in it.
    func vault() throws -> any VaultStore {
        let store = try store()
        try store.create(.first)
        return store
    }
}

@Suite struct MemoryTests {
    @Test(arguments: Promise.all) func `a store in memory keeps:`(_ promise: Promise) async throws {
        try await promise.check(MemoryGround())
    }
}

@Suite struct SQLiteTests {
    @Test(arguments: Promise.all) func `a store in a file keeps:`(_ promise: Promise) async throws {
        try await promise.check(SQLiteGround())
    }
}

@Suite(
    .enabled(
        if: PostgresServer.isAvailable, "needs PostgreSQL's server: Debian's package postgresql"))
struct PostgresTests {
    @Test(arguments: Promise.all)
    func `a store on a server keeps:`(_ promise: Promise) async throws {
        try await promise.check(PostgresGround())
    }
}

private struct MemoryGround: Ground {
    private let memory = MemoryVaultStore()

    func store() -> any VaultStore { memory }
    func passTime() { memory.advance(by: .milliseconds(600)) }
}
