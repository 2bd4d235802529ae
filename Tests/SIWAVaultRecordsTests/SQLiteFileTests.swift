import Glibc
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// The file behind a vault, and what can be wrong with it.
@Suite(.blocking) struct SQLiteFileTests {
    let fixture: SQLiteStoreFixture

    init() throws { fixture = try SQLiteStoreFixture() }

    @Test func `only the call that creates a vault creates a file`() throws {
        for call: (any VaultStore) throws -> Void in [
            { _ = try $0.keyChecks() }, { try $0.put([VaultRecord(.sample(1))]) },
            { _ = try $0.claim(.long("a")) }, { _ = try $0.faults() },
        ] {
            let error = #expect(throws: StoreError.self) { try call(fixture.store()) }
            #expect(error?.kind == .notInitialized)
            #expect(error?.message.contains(fixture.path) == true)
        }
        #expect(try names() == [])
    }

    @Test func `all files of a vault are accessible only by their owner`() throws {
        let store = try fixture.vault()
        try store.put([VaultRecord(.sample(1))])
        #expect(try names() == ["vault.db", "vault.db-shm", "vault.db-wal"])
        for name in try names() {
            var status = stat()
            #expect(stat(fixture.folder.path(name), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600, "\(name)")
        }
    }

    @Test func `a finished change is on disk, and readers never wait`() throws {
        _ = try fixture.vault()
        let database = try fixture.connect()
        #expect(try database.run("PRAGMA journal_mode") == [[.text("wal")]])
        #expect(try database.run("PRAGMA synchronous") == [[.integer(2)]])
        #expect(try database.run("PRAGMA foreign_keys") == [[.integer(1)]])
    }

    /// `VACUUM INTO` and `.backup` write a file without one.
    @Test func `a restored copy has a write-ahead log again after its first change, not before`()
        throws
    {
        _ = try fixture.preparedServerStore()
        try fixture.store().put([VaultRecord(.sample(1))])
        #expect(try fixture.connect().run("PRAGMA journal_mode = DELETE") == [[.text("delete")]])
        let store = try fixture.store()
        #expect(try store.all() == [VaultRecord(.sample(1))])
        _ = try fixture.serverStore().examine()
        #expect(try fixture.connect().run("PRAGMA journal_mode") == [[.text("delete")]])
        try store.put([VaultRecord(.sample(2))])
        #expect(try fixture.connect().run("PRAGMA journal_mode") == [[.text("wal")]])
    }

    @Test func `one file remains when the last store is released`() throws {
        try fixture.vault().put([VaultRecord(.sample(1))])
        #expect(try names() == ["vault.db"])
        #expect(try fixture.store().all() == [VaultRecord(.sample(1))])
    }

    /// Several programs that make a vault at the same time have this moment.
    @Test func `a log that came and went is not missed by a connection that never had it open`()
        throws
    {
        _ = try fixture.vault()
        #expect(try fixture.connect().run("PRAGMA journal_mode = DELETE") == [[.text("delete")]])
        let other = try fixture.connect()
        func begin() throws {
            try other.begin(Access.reading)
            other.rollBack()
        }
        try begin()
        var ending: (any Database)? = try fixture.connect()
        #expect(try ending?.run("PRAGMA journal_mode = WAL") == [[.text("wal")]])
        _ = try ending?.run("SELECT count(*) FROM vault_token")
        #expect(try names() == ["vault.db", "vault.db-shm", "vault.db-wal"])
        try begin()
        ending = nil
        #expect(try names() == ["vault.db"])
        try begin()
    }

    @Test(arguments: [":memory:", "file:vault.db?mode=memory", "a b%20'\"", "日本"])
    func `any text can be the name of a vault's file`(_ name: String) throws {
        let path = fixture.folder.path(name)
        try openVaultStore("sqlite:\(path)", timeout: .eachStatement(.seconds(60))).create(.first)
        #expect(try names() == [name])
        #expect(
            try openVaultStore("sqlite:\(path)", timeout: .eachStatement(.seconds(60))).keyChecks()
                == [.first])
    }

    @Test(arguments: ["no/such/vault.db", "vault.db/vault.db"])
    func `a missing folder is named`(_ name: String) throws {
        try fixture.folder.write("vault.db", "")
        let store = try openVaultStore(
            "sqlite:\(fixture.folder.path(name))", timeout: .eachStatement(.seconds(60)))
        let error = #expect(throws: StoreError.self) { try store.create(.first) }
        #expect(error?.kind == .unusable)
        #expect(error?.message.contains(name) == true)
        #expect(throws: StoreError.self) { try store.keyChecks() }
    }

    @Test func `an empty file becomes a vault`() throws {
        try fixture.folder.write("vault.db", "")
        let error = #expect(throws: StoreError.self) { try fixture.store().keyChecks() }
        #expect(error?.kind == .notInitialized)
        #expect(try fixture.vault().keyChecks() == [.first])
    }

    @Test(arguments: [20, 5000])
    func `a file that is not a database is reported and left unchanged`(_ size: Int) throws {
        let bytes = Array(repeating: UInt8(ascii: "x"), count: size)
        try fixture.folder.write("vault.db", bytes)
        for call: (any VaultStore) throws -> Void in [
            { try $0.create(.first) }, { _ = try $0.keyChecks() }, { _ = try $0.faults() },
        ] {
            let error = #expect(throws: StoreError.self) { try call(fixture.store()) }
            #expect(error?.kind == .damaged)
            #expect(error?.message == "'\(fixture.path)': this file is not an SQLite database")
        }
        #expect(try fixture.folder.contents("vault.db") == bytes)
    }

    @Test func `a folder is refused as a vault`() throws {
        mkdir(fixture.path, 0o700)
        for call: (any VaultStore) throws -> Void in [
            { try $0.create(.first) }, { _ = try $0.keyChecks() },
        ] {
            let error = #expect(throws: StoreError.self) { try call(fixture.store()) }
            #expect(error?.kind == .unusable)
        }
    }

    @Test func `a database of another program is left unchanged`() throws {
        try fixture.folder.write("vault.db", "")
        _ = try fixture.connect().run("CREATE TABLE theirs (a)")
        let bytes = try fixture.folder.contents("vault.db")
        let error = #expect(throws: StoreError.self) { try fixture.store().keyChecks() }
        #expect(error?.kind == .notInitialized)
        #expect(try fixture.folder.contents("vault.db") == bytes)
    }

    @Test func `an overwritten page is detected`() throws {
        let users = VaultUser.samples(2000)
        try fixture.vault().put(users.map { VaultRecord($0) })
        var bytes = try fixture.folder.contents("vault.db")
        let middle = bytes.count / 8192 * 4096
        bytes.replaceSubrange(middle..<(middle + 4096), with: Array(repeating: 0xA5, count: 4096))
        try fixture.folder.write("vault.db", bytes)
        let faults = Result { try fixture.store().faults() }
        switch faults {
        case .success(let faults): #expect(faults.first?.text.contains(fixture.path) == true)
        case .failure(let error): #expect((error as? StoreError)?.kind == .damaged)
        }
    }

    @Test func `a record whose key row is deleted is detected`() throws {
        let store = try fixture.vault()
        try store.put([VaultRecord(.sample(1))])
        _ = try fixture.connect().run("DELETE FROM vault_key")
        #expect(
            try store.faults().map(\.text) == [
                "records are encrypted with key 1, which is missing from the vault's list of keys"
            ])
    }

    @Test func `a change that does not fit on the disk is undone`() throws {
        try fixture.vault().put([VaultRecord(.sample(1))])
        let connector = WatchedConnector(
            base: try fixture.connector(timeout: .seconds(60)),
            first: ["PRAGMA max_page_count = 20"])
        let store = SQLVaultStore(connector)
        let error = #expect(throws: StoreError.self) {
            try store.put(VaultUser.samples(5000).map { VaultRecord($0, .dead) })
        }
        #expect(error?.kind == .full)
        #expect(try store.all() == [VaultRecord(.sample(1))])
        try store.put([VaultRecord(.sample(1), .dead)])
        #expect(try fixture.store().all() == [VaultRecord(.sample(1), .dead)])
    }

    private func names() throws -> [String] {
        let directory = try #require(opendir(fixture.folder.path))
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let offset = try #require(MemoryLayout<dirent>.offset(of: \.d_name))
            let name = UnsafeRawPointer(entry) + offset
            names.append(String(cString: name.assumingMemoryBound(to: CChar.self)))
        }
        return names.filter { !$0.hasPrefix(".") }.sorted()
    }
}
