import Foundation
import Glibc
import SIWACrypto
import SIWASystem
import SIWATestSupport
import Testing

@Suite(.blocking) struct WriteFileTests {
    let folder: Folder

    init() throws { folder = try Folder() }

    @Test func `a new file holds the contents, readable only by its owner`() throws {
        let path = folder.path("new")
        try writeFile(SecretBytes(Array("secret\n".utf8)), to: path)
        let file = try readFile(path)
        #expect(file.contents.revealed() == Array("secret\n".utf8))
        #expect(file.status.permissions == 0o600)
        #expect(!file.status.isReadableByOthers)
        #expect(folder.names == ["new"], "no temporary file stays")
    }

    @Test(arguments: [0, 1, 4095, 4096, 4097, 1_000_000])
    func `contents of any size are written completely`(_ count: Int) throws {
        let contents = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let path = folder.path("file")
        try writeFile(SecretBytes(contents), to: path)
        #expect(try readFile(path).contents.revealed() == contents)
    }

    @Test func `an old file is replaced, whatever its permissions are`() throws {
        let path = folder.path("old")
        try folder.write("a much longer text than the new one", to: "old", permissions: 0o644)
        chmod(path, 0o666)
        try writeFile(SecretBytes(Array("new".utf8)), to: path)
        let file = try readFile(path)
        #expect(file.contents.revealed() == Array("new".utf8))
        #expect(file.status.permissions == 0o600)
    }

    @Test func `other permissions can be set, independent of the umask`() throws {
        let path = folder.path("open")
        try writeFile(SecretBytes([1]), to: path, permissions: 0o644)
        #expect(try readFile(path).status.permissions == 0o644)
        #expect(try readFile(path).status.isReadableByOthers)
    }

    @Test func `a reader of the old file continues to read it whole`() throws {
        let path = folder.path("file")
        try folder.write("old", to: "file")
        let reader = try #require(FileHandle(forReadingAtPath: path))
        try writeFile(SecretBytes(Array("new".utf8)), to: path)
        #expect(try reader.readToEnd() == Data("old".utf8))
    }

    @Test func `several files are written at once, in new subfolders too`() throws {
        try folder.write("old", to: "b")
        try writeFiles(
            [
                NamedContents("a/b/c", SecretBytes(Array("new".utf8))),
                NamedContents("b", SecretBytes(Array("newer".utf8))),
            ], into: folder.path(""))
        #expect(try readFile(folder.path("a/b/c")).contents.revealed() == Array("new".utf8))
        #expect(try readFile(folder.path("b")).contents.revealed() == Array("newer".utf8))
        #expect(try readFile(folder.path("b")).status.permissions == 0o644)
        #expect(folder.names == ["a", "b"], "no temporary file stays")
    }

    @Test func `if one of several files cannot be written, none is`() throws {
        try FileManager.default.createDirectory(
            atPath: folder.path("taken"), withIntermediateDirectories: false)
        try folder.write("old", to: "b")
        let error = #expect(throws: FileError.self) {
            try writeFiles(
                ["a", "b", "taken"].map { NamedContents($0, SecretBytes([1])) },
                into: folder.path(""))
        }
        #expect(error?.description == "cannot write '\(folder.path("taken"))': is a directory")
        #expect(folder.names == ["b", "taken"])
        #expect(try readFile(folder.path("b")).contents.revealed() == Array("old".utf8))
    }

    @Test(arguments: [("nowhere", "no such file"), ("file", "not a directory")])
    func `several files need a folder`(_ name: String, _ reason: String) throws {
        try folder.write("", to: "file")
        let error = #expect(throws: FileError.self) {
            try writeFiles([NamedContents("a", SecretBytes([1]))], into: folder.path(name))
        }
        #expect(error?.description.contains("cannot write to '\(folder.path(name))': ") == true)
        #expect(error?.reason.hasPrefix(reason) == true, "\(String(describing: error))")
        #expect(error?.remedy == "create the folder, or give another one")
    }

    @Test func `a symbolic link is kept, and its target is written`() throws {
        try FileManager.default.createDirectory(
            atPath: folder.path("elsewhere"), withIntermediateDirectories: false)
        try folder.write("old", to: "elsewhere/target")
        try folder.link("link", to: "elsewhere/target")
        try writeFile(SecretBytes(Array("new".utf8)), to: folder.path("link"))
        #expect(try folder.isLink("link"))
        #expect(try folder.read("elsewhere/target") == "new")
    }

    @Test func `a link at a path that the program chose is replaced with a file`() throws {
        try folder.write("old", to: "target")
        try folder.link("link", to: "target")
        try writeFile(SecretBytes("new".utf8), to: folder.path("link"), link: .replaced)
        #expect(try !folder.isLink("link") && folder.read("link") == "new")
        #expect(try folder.read("target") == "old")
    }

    @Test func `a dangling symbolic link is kept, and its target is created`() throws {
        try folder.link("inner", to: "target")
        try folder.link("link", to: "inner")
        try writeFile(SecretBytes(Array("new".utf8)), to: folder.path("link"))
        #expect(try folder.isLink("link") && folder.isLink("inner"))
        #expect(try folder.read("target") == "new")
    }

    @Test func `a cycle of links is refused`() throws {
        try folder.link("one", to: "two")
        try folder.link("two", to: "one")
        #expect(throws: FileError.self) { try writeFile(SecretBytes([1]), to: folder.path("one")) }
        #expect(try folder.isLink("one") && folder.isLink("two"))
    }

    @Test func `writing to a folder is refused`() throws {
        try createDirectory(folder.path("inner"))
        #expect {
            try writeFile(SecretBytes([1]), to: folder.path("inner"))
        } throws: { error in
            (error as? FileError)?.description
                == "cannot write '\(folder.path("inner"))': it is not a regular file"
        }
    }

    @Test func `a device is written without being replaced`() throws {
        try writeFile(SecretBytes([1]), to: "/dev/null")
        #expect(throws: FileError.self) { try writeFile(SecretBytes([1]), to: "/dev/full") }
    }

    @Test func `a pipe is written without being replaced`() throws {
        let path = folder.path("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        try writeFile(SecretBytes("secret".utf8), to: path)
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(read(reader, &bytes, 16) == 6 && bytes.starts(with: "secret".utf8))
        #expect(folder.names == ["pipe"])
    }

    @Test(arguments: ["/dev/fd/", "/proc/self/fd/"])
    func `an open stream is written without being replaced`(_ prefix: String) throws {
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        try writeFile(SecretBytes("secret".utf8), to: "\(prefix)\(ends[1])")
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(read(ends[0], &bytes, 16) == 6 && bytes.starts(with: "secret".utf8))
        #expect(throws: FileError.self) {
            try writeFile(SecretBytes([1]), to: "\(prefix)\(CInt.max)")
        }
    }

    @Test func `a missing parent folder is reported as a missing file`() {
        #expect {
            try writeFile(SecretBytes([1]), to: folder.path("absent/file"))
        } throws: { error in
            guard let error = error as? FileError else { return false }
            return error.isMissing && error.code == ENOENT && error.operation == "write"
                && error.path == folder.path("absent/file")
        }
    }

    @Test func `a file in place of the parent folder is reported as a missing file`() throws {
        try folder.write("x", to: "file")
        #expect {
            try writeFile(SecretBytes([1]), to: folder.path("file/inner"))
        } throws: { error in
            (error as? FileError)?.isMissing == true
        }
    }

    /// The temporary file's name is longer by seven characters.
    @Test func `if the temporary name would be too long, the old file is kept`() throws {
        let name = String(repeating: "n", count: 250)
        try folder.write("old", to: name)
        #expect {
            try writeFile(SecretBytes([1]), to: folder.path(name))
        } throws: { error in
            (error as? FileError)?.code == ENAMETOOLONG
        }
        #expect(try folder.read(name) == "old")
        #expect(folder.names == [name])
    }

    /// Root may write anywhere: then only /proc, where nothing can be made, refuses.
    @Test func `a folder without write permission is refused, and the old file is kept`() throws {
        try folder.write("old", to: "file")
        #expect(throws: FileError.self) { try writeFile(SecretBytes([1]), to: "/proc/self/siwa") }
        guard geteuid() != 0 else { return }
        chmod(folder.path(""), 0o500)
        defer { chmod(folder.path(""), 0o700) }
        #expect {
            try writeFile(SecretBytes([1]), to: folder.path("file"))
        } throws: { error in
            (error as? FileError)?.code == EACCES
        }
        #expect(try folder.read("file") == "old")
    }

    @Test func `a created file is readable only by its owner, and replaces no file`() throws {
        let path = folder.path("new")
        try createFile(SecretBytes(Array("first".utf8)), at: path)
        #expect(try readFile(path).status.permissions == 0o600)
        #expect {
            try createFile(SecretBytes(Array("second".utf8)), at: path)
        } throws: { error in
            (error as? FileError)?.isTaken == true
        }
        #expect(try folder.read("new") == "first")
        #expect(folder.names == ["new"], "no temporary file stays")
    }

    @Test func `a created folder is accessible only by its owner, and created once`() throws {
        try createDirectory(folder.path("inner"))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("inner"))
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        #expect {
            try createDirectory(folder.path("inner"))
        } throws: { error in
            (error as? FileError)?.code == EEXIST && (error as? FileError)?.operation == "create"
        }
    }

    /// The files of a process that is killed while it writes.
    @Test func `only temporary files of killed runs are removed`() throws {
        let old = time(nil) - 120
        let names = [
            "secret.siwa-AbCdEf", "secret.siwa-Locked", "secret.siwa-Recent", "other.siwa-AbCdEf",
            "secret.siwa-TooLong1", "secret.AbCdEf",
        ]
        for name in names {
            try folder.write("x", to: name)
            var times = [timeval(tv_sec: old, tv_usec: 0), timeval(tv_sec: old, tv_usec: 0)]
            if !name.hasSuffix("Recent") { #expect(utimes(folder.path(name), &times) == 0) }
        }
        let locked = open(folder.path("secret.siwa-Locked"), O_RDONLY)
        defer { close(locked) }
        #expect(flock(locked, LOCK_EX) == 0)
        try writeFile(SecretBytes([1]), to: folder.path("secret"))
        #expect(folder.names == (names.dropFirst() + ["secret"]).sorted())
    }

    @Test func `a closed pipe is distinguished from other failures`() throws {
        reportWriteErrors()
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        #expect {
            try writeAll(SecretBytes([1]), to: ends[1], named: "standard output")
        } throws: { error in
            (error as? FileError)?.isClosedPipe == true
        }
    }

    @Test func `a full pipe receives every byte eventually`() throws {
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        let contents = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        let output = ends[1]
        Thread.detachNewThread {
            try? writeAll(SecretBytes(contents), to: output, named: "a pipe")
            close(output)
        }
        let input = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        #expect(try input.readToEnd() == Data(contents))
    }
}
