import LocalFiles
import SIWACrypto
import TestSupport
import Testing

@Suite(.blocking) struct FileLockTests {
    let folder: Folder

    init() throws { folder = try Folder() }

    @Test func `only one holder has it, until it is released`() throws {
        let path = folder.path("lock")
        let lock = try #require(try tryLock(path))
        #expect(try tryLock(path) == nil)
        #expect(try tryLock(folder.path("another")) != nil)
        lock.release()
        let again = try #require(try tryLock(path))
        again.release()
    }

    @Test func `the file is its owner's alone, empty, and stays`() throws {
        let path = folder.path("lock")
        try #require(try tryLock(path)).release()
        let file = try readFile(path)
        #expect(file.status.permissions == 0o600 && file.contents.count == 0)
    }

    @Test func `no lock where no file can be made`() throws {
        #expect(throws: FileError.self) { try tryLock(folder.path("none/lock")) }
        #expect(throws: FileError.self) { try tryLock(folder.path("")) }
        try folder.link("link", to: "target")
        #expect(throws: FileError.self) { try tryLock(folder.path("link")) }
        #expect(folder.names == ["link"], "what a link points to is not made")
    }
}
