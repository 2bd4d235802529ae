import Foundation
import Glibc
import SIWACrypto
import SIWASystem
import SIWATestSupport
import Synchronization
import Testing

/// Results are not written where another user could read them. Only root can give a file away.
@Suite(.enabled(if: geteuid() == 0, "only root can make files of another user"), .blocking)
struct ForeignFileTests {
    let folder: Folder
    private let stranger: uid_t = 12345

    init() throws { folder = try Folder() }

    private func writings(_ name: String) -> [Result<Void, any Error>] {
        let path = folder.path(name)
        return [
            Result { try writeFile(SecretBytes("secret".utf8), to: path) },
            Result { _ = try LineWriter.appending(to: path, keeping: nil, notify: {}) },
        ]
    }

    private func expectRefusals(_ name: String, _ reason: String) {
        for writing in writings(name) {
            #expect {
                try writing.get()
            } throws: { error in
                (error as? FileError)?.description
                    == "cannot write '\(folder.path(name))': "
                    + "the \(reason) belongs to another user (uid 12345)"
            }
        }
    }

    @Test func `root creates nothing in the folder of another user, and names siwa-admin`() throws {
        try #require(mkdir(folder.path("service"), 0o700) == 0)
        chown(folder.path("service"), stranger, stranger)
        let path = folder.path("service/new")
        let creations: [() throws -> Void] = [
            { try createFile(SecretBytes([]), at: path) }, { _ = try tryLock(path) },
            { _ = try reserveFile(path, 10) }, { try checkReservation(path, 10) },
        ]
        for creation in creations {
            let error = #expect(throws: FileError.self) { try creation() }
            #expect(error?.reason.contains("belongs to another user (uid 12345)") == true)
            #expect(error?.remedy?.contains("'siwa-admin' is siwa as the service") == true)
        }
        #expect(!fileExists(path))
        // In a folder for everyone, each user has files of their own.
        try #require(chmod(folder.path("service"), 0o1777) == 0)
        try createFile(SecretBytes([]), at: path)
        #expect(fileExists(path))
    }

    @Test func `root may use the lock of a service, and leaves it to the service`() throws {
        try #require(mkdir(folder.path("service"), 0o700) == 0)
        try folder.write("", to: "service/lock", permissions: 0o600)
        for name in ["service", "service/lock"] { chown(folder.path(name), stranger, stranger) }
        try #require(try tryLock(folder.path("service/lock"))).release()
        var status = stat()
        #expect(stat(folder.path("service/lock"), &status) == 0 && status.st_uid == stranger)
    }

    @Test func `a file of another user is refused and stays unchanged`() throws {
        try folder.write("", to: "file", permissions: 0o666)
        chown(folder.path("file"), stranger, stranger)
        expectRefusals("file", "file")
        #expect(try folder.read("file") == "")
        #expect(try readFile(folder.path("file")).status.permissions == 0o666)
    }

    @Test func `a symbolic link of another user is refused, and its target is not created`() throws
    {
        try folder.link("link", to: "target")
        lchown(folder.path("link"), stranger, stranger)
        expectRefusals("link", "link")
        #expect(folder.names == ["link"])
        try folder.write("", to: "target")
        expectRefusals("link", "link")
        #expect(try folder.read("target") == "")
    }

    @Test func `a user's own link to another user's link is refused`() throws {
        try folder.link("inner", to: "target")
        lchown(folder.path("inner"), stranger, stranger)
        try folder.link("link", to: "inner")
        expectRefusals("link", "link")
        #expect(folder.names == ["inner", "link"])
    }

    @Test func `a pipe of another user is refused`() throws {
        #expect(mkfifo(folder.path("pipe"), 0o666) == 0)
        chown(folder.path("pipe"), stranger, stranger)
        expectRefusals("pipe", "pipe")
    }

    /// Another process swaps the file for a link and back all the time: every write lands
    /// nowhere but in a file of one's own.
    @Test func `a file that is replaced during the check is never written`() throws {
        try folder.write("", to: "theirs", permissions: 0o666)
        chown(folder.path("theirs"), stranger, stranger)
        let (path, theirs) = (folder.path("file"), folder.path("theirs"))
        let switcher = Switcher()
        Thread.detachNewThread {
            while !switcher.isToStop.load(ordering: .relaxed) {
                unlink(path)
                symlink(theirs, path)
                lchown(path, 12345, 12345)
                unlink(path)
                link(theirs, path)
            }
            switcher.hasStopped.store(true, ordering: .releasing)
        }
        for _ in 0..<300 { _ = writings("file") }
        switcher.isToStop.store(true, ordering: .relaxed)
        while !switcher.hasStopped.load(ordering: .acquiring) { usleep(1000) }
        #expect(try folder.read("theirs") == "")
        #expect(try readFile(theirs).status.permissions == 0o666)
    }

    private final class Switcher: Sendable {
        let isToStop = Atomic(false)
        let hasStopped = Atomic(false)
    }
}
