import Glibc
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
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

    /// `siwa-server check` is to fail where a start would. SQLite begins to write such a file.
    @Test(arguments: [(0o777, 0o444), (0o555, 0o666), (0o000, 0o666)])
    func `what cannot be written is found without writing, by new connections and open ones`(
        _ folder: mode_t, _ file: mode_t
    ) throws {
        let fixture = try SQLiteStoreFixture()
        let open = try fixture.preparedServerStore()
        try withoutPrivileges(in: fixture, folder: folder, file: file) {
            let store = try fixture.serverStore()
            let place = folder == 0o777 ? fixture.path : fixture.folder.path + "/"
            for error in [
                #expect(throws: StoreError.self) { try store.requireAccess() },
                #expect(throws: StoreError.self) { _ = try store.examine() },
            ] {
                #expect(error?.kind == .unusable)
                #expect(error?.message.hasSuffix("permission denied") == true, "\(error as Any)")
            }
            let error = #expect(throws: StoreError.self) { try store.requireAccess() }
            #expect(error?.message == "'\(place)' cannot be written: permission denied")
            // An open file can be written whatever its mode is; one whose folder is closed cannot be found.
            guard folder == 0o000 else { return }
            let moved = #expect(throws: StoreError.self) { try open.check() }
            #expect(moved?.message == error?.message)
        }
        try fixture.serverStore().requireAccess()
    }

    @Test func `a vault behind a link needs no permission in the folder of the link`() throws {
        let fixture = try SQLiteStoreFixture()
        _ = try fixture.preparedServerStore()
        let links = try TemporaryFolder()
        try #require(symlink(fixture.path, links.path("link.db")) == 0)
        chmod(links.path, 0o555)
        defer { chmod(links.path, 0o700) }
        try withoutPrivileges(in: fixture, folder: 0o777, file: 0o666) {
            try ServerStore(
                "sqlite:" + links.path("link.db"), timeout: .eachStatement(.seconds(60))
            )
            .requireAccess()
        }
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
