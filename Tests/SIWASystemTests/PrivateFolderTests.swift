import Glibc
import SIWASystem
import Testing

@Suite struct PrivateFolderTests {
    let folder: Folder

    init() throws { folder = try Folder() }

    @Test(arguments: ["one/two/three", "one//two/three/"])
    func `the folder and its parents are created for the owner only`(_ name: String) throws {
        try makePrivateFolder(folder.path(name))
        for made in ["one", "one/two", "one/two/three"] {
            #expect(try permissions(folder.path(made)) == 0o700, "\(made)")
        }
    }

    @Test(arguments: [0o700, 0o755, 0o500] as [mode_t])
    func `an existing private folder is accepted`(_ mode: mode_t) throws {
        let path = folder.path("folder")
        try makePrivateFolder(path)
        chmod(path, mode)
        try makePrivateFolder(path)
        #expect(try permissions(path) == mode, "and leaves it as it is")
        chmod(path, 0o700)
    }

    @Test(arguments: [0o777, 0o770, 0o702, 0o1777] as [mode_t])
    func `a folder that other users can write to is refused`(_ mode: mode_t) throws {
        let path = folder.path("folder")
        try makePrivateFolder(path)
        chmod(path, mode)
        #expect(throws: FileError.self) { try makePrivateFolder(path) }
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives folders away"))
    func `a folder of another user is refused`() throws {
        let path = folder.path("folder")
        try makePrivateFolder(path)
        chown(path, 12345, 12345)
        #expect(throws: FileError.self) { try makePrivateFolder(path) }
    }

    @Test func `a file, and a path inside a file, are refused`() throws {
        try folder.write("", to: "file")
        #expect(throws: FileError.self) { try makePrivateFolder(folder.path("file")) }
        #expect(throws: FileError.self) { try makePrivateFolder(folder.path("file/in")) }
        #expect(throws: FileError.self) { try makePrivateFolder("") }
    }

    @Test func `concurrent callers create one folder`() async throws {
        let path = folder.path("a/b/c/d")
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask { (try? makePrivateFolder(path)) != nil }
            }
            for await made in group { #expect(made) }
        }
    }

    private func permissions(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status.st_mode & 0o7777
    }
}
