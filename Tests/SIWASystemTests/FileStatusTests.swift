import Glibc
import SIWASystem
import Testing

@Suite struct FileStatusTests {
    let folder: Folder

    init() throws { folder = try Folder() }

    /// A mounted secret belongs to root and to a group that the process is in.
    @Test(.enabled(if: geteuid() == 0, "only root can give files to other groups"))
    func `a file is readable by its group if this process is in the group`() throws {
        for (mode, group, isOpen) in [
            (0o640, 12345 as gid_t, true), (0o640, getegid(), false), (0o644, getegid(), true),
            (0o600, 12345, false), (0o440, getegid(), false), (0o440, 12345, true),
        ] {
            try folder.write("x", to: "file", permissions: mode)
            #expect(chown(folder.path("file"), 0, group) == 0)
            #expect(chmod(folder.path("file"), mode_t(mode)) == 0)
            let status = try #require(fileStatus(folder.path("file")))
            #expect(status.isReadableByOthers == isOpen, "\(mode) \(group)")
            #expect(!status.isForeign)
        }
    }

    @Test func `a missing file has no status`() {
        #expect(fileStatus(folder.path("absent")) == nil)
    }

    @Test func `different spellings of a path name the same folder`() throws {
        let path = folder.path("a")
        #expect(mkdir(path, 0o700) == 0 && mkdir(folder.path("b"), 0o700) == 0)
        #expect(symlink(path, folder.path("link")) == 0)
        for other in [path, path + "/", path + "/.", folder.path("b/../a"), folder.path("link")] {
            #expect(isSameFolder(other, path), "\(other)")
        }
        try folder.write("x", to: "file")
        for other in [folder.path("b"), folder.path("absent"), folder.path("file")] {
            #expect(!isSameFolder(other, path) && !isSameFolder(path, other), "\(other)")
        }
        #expect(!isSameFolder(folder.path("file"), folder.path("file")), "it is no folder")
    }

    @Test func `a device is not a regular file`() throws {
        let status = try #require(fileStatus("/dev/null"))
        #expect(!status.isRegular && !status.isReadableByOthers)
    }
}
