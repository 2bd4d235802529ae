import SIWACrypto
import SIWASystem
import SIWATestSupport
import Testing

@Suite(.blocking) struct FileLockTests {
    let folder: Folder

    init() throws { folder = try Folder() }

    @Test func `only one holder has the lock until it is released`() throws {
        let path = folder.path("lock")
        let lock = try #require(try tryLock(path))
        #expect(try tryLock(path) == nil)
        #expect(try tryLock(folder.path("another")) != nil)
        lock.release()
        let again = try #require(try tryLock(path))
        again.release()
    }

    @Test func `the lock file is empty, accessible only by its owner, and not removed`() throws {
        let path = folder.path("lock")
        try #require(try tryLock(path)).release()
        let file = try readFile(path)
        #expect(file.status.permissions == 0o600 && file.contents.count == 0)
    }

    @Test func `locking fails if the file cannot be created`() throws {
        #expect(throws: FileError.self) { try tryLock(folder.path("none/lock")) }
        #expect(throws: FileError.self) { try tryLock(folder.path("")) }
        try folder.link("link", to: "target")
        #expect(throws: FileError.self) { try tryLock(folder.path("link")) }
        #expect(folder.names == ["link"], "what a link points to is not made")
    }
}
