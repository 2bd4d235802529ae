import Glibc
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// A vault without permission for this user: nothing is changed, and the message names the path and
/// the reason.
@Suite(.blocking) struct SQLitePermissionTests {
    @Test func `a vault cannot be created in a folder without write permission`() throws {
        let fixture = try SQLiteStoreFixture()
        try withoutPrivileges(in: fixture, folder: 0o555) {
            let error = #expect(throws: StoreError.self) { try fixture.store().create(.first) }
            #expect(error?.kind == .unusable)
            #expect(error?.message == "'\(fixture.path)' cannot be made: permission denied")
        }
    }

    @Test(arguments: [
        (0o555, 0o444), (0o555, 0o666), (0o777, 0o444), (0o777, 0o000), (0o000, 0o666),
    ])
    func `a vault cannot be changed without write permission`(_ folder: mode_t, _ file: mode_t)
        throws
    {
        let fixture = try SQLiteStoreFixture()
        try fixture.vault().put([VaultRecord(.sample(1))])
        try withoutPrivileges(in: fixture, folder: folder, file: file) {
            let error = #expect(throws: StoreError.self) {
                try fixture.store().put([VaultRecord(.sample(1), .dead)])
            }
            #expect(error?.kind == .unusable)
            #expect(error?.message.contains(fixture.path) == true)
        }
        #expect(try fixture.store().all() == [VaultRecord(.sample(1))])
    }

    /// Runs `body` as a user for whom file permissions apply, even if root runs the tests.
    private func withoutPrivileges(
        in fixture: SQLiteStoreFixture, folder: mode_t, file: mode_t? = nil,
        _ body: () throws -> Void
    ) throws {
        if let file { chmod(fixture.path, file) }
        chmod(fixture.folder.path, folder)
        // The permissions of this thread only.
        let setfsuid = unsafeBitCast(
            try #require(dlsym(nil, "setfsuid")), to: (@convention(c) (uid_t) -> CInt).self)
        if geteuid() == 0 { _ = setfsuid(65534) }
        defer {
            if geteuid() == 0 { _ = setfsuid(0) }
            chmod(fixture.folder.path, 0o700)
            chmod(fixture.path, 0o600)
        }
        try body()
    }
}
