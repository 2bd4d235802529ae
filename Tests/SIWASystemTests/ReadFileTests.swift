import Foundation
import Glibc
import SIWACrypto
import SIWATestSupport
import Testing

@testable import SIWASystem

@Suite(.blocking) struct ReadFileTests {
    let folder: Folder

    init() throws { folder = try Folder() }

    @Test(arguments: [0, 1, 4095, 4096, 4097, 8192]) func `a file of any size is read completely`(
        _ count: Int
    ) throws {
        let text = String(repeating: "x", count: count)
        try folder.write(text, to: "file")
        #expect(try readFile(folder.path("file")).contents.revealed() == Array(text.utf8))
    }

    @Test func `the names in a folder are listed, and a missing folder is an error`() throws {
        let long = String(repeating: "n", count: 255)
        for name in ["b", ".hidden", "ä", long] { try folder.write("", to: name) }
        #expect(namesInFolder(folder.path("")) == folder.names)
        #expect(namesInFolder(folder.path("b")) == [])
        #expect(namesInFolder(folder.path("nowhere")) == [])
    }

    static let limits = [(100, 100, true), (101, 100, false), (0, 0, true), (1, 0, false)]

    @Test(arguments: limits)
    func `a file of at most the limit is read, and a larger one is refused`(
        _ count: Int, _ limit: Int, _ isRead: Bool
    ) throws {
        try folder.write(String(repeating: "x", count: count), to: "file")
        guard !isRead else {
            #expect(try readFile(folder.path("file"), limit: limit).contents.count == count)
            return
        }
        #expect {
            try readFile(folder.path("file"), limit: limit)
        } throws: { error in
            (error as? FileError)?.reason == "it holds more than \(limit) bytes"
                && (error as? FileError)?.isTooLarge == true
        }
    }

    @Test func `an endless device is read only up to the limit`() {
        #expect(throws: FileError.self) { try readFile("/dev/zero") }
    }

    @Test func `an empty device is empty, and its permissions are ignored`() throws {
        let file = try readFile("/dev/null")
        #expect(file.contents.count == 0)
        #expect(!file.status.isRegular && !file.status.isReadableByOthers)
    }

    static let permissions: [(Int, Bool)] = [
        (0o600, false), (0o400, false), (0o700, false), (0o640, false), (0o604, true),
        (0o644, true),
        (0o620, false), (0o602, false), (0o611, false), (0o444, true),
    ]

    @Test(arguments: permissions) func `files that other users can read are recognised`(
        _ mode: Int, _ expected: Bool
    ) throws {
        try folder.write("x", to: "file", permissions: mode)
        let file = try readFile(folder.path("file"))
        #expect(file.status.permissions == UInt32(mode))
        #expect(file.status.isReadableByOthers == expected)
    }

    @Test(arguments: [0o600, 0o644, 0o400, 0o620, 0o602, 0o666, 0o777])
    func `files that other users can write are recognised`(_ mode: Int) throws {
        try folder.write("x", to: "file", permissions: mode)
        #expect(try readFile(folder.path("file")).status.isWritableByOthers == (mode & 0o022 != 0))
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func `a file of another user counts as writable by others`() throws {
        try folder.write("x", to: "file", permissions: 0o600)
        chown(folder.path("file"), 12345, 12345)
        #expect(try readFile(folder.path("file")).status.isWritableByOthers)
    }

    @Test func `a link has the permissions of its target`() throws {
        try folder.write("x", to: "file", permissions: 0o600)
        try folder.link("link", to: "file")
        #expect(try !readFile(folder.path("link")).status.isReadableByOthers)
    }

    @Test func `reading a folder is refused`() throws {
        #expect {
            try readFile(folder.path(""))
        } throws: { error in
            (error as? FileError)?.code == EISDIR && (error as? FileError)?.operation == "read"
        }
    }

    @Test func `a missing file is reported as missing`() throws {
        #expect(!fileExists(folder.path("absent")))
        #expect {
            try readFile(folder.path("absent"))
        } throws: { error in
            (error as? FileError)?.isMissing == true
                && (error as? FileError)?.description
                    == "cannot read '\(folder.path("absent"))': no such file or directory"
        }
    }

    @Test func `a file without read permission is not reported as missing`() throws {
        try folder.write("x", to: "file", permissions: 0)
        #expect(fileExists(folder.path("file")))
        guard geteuid() != 0 else { return }
        #expect {
            try readFile(folder.path("file"))
        } throws: { error in
            (error as? FileError)?.code == EACCES && (error as? FileError)?.isMissing == false
        }
    }

    @Test func `a byte order mark is removed at the beginning only`() throws {
        for (text, expected) in [
            ("\u{FEFF}text", "text"), ("\u{FEFF}\u{FEFF}", "\u{FEFF}"), ("\u{FEFF}", ""),
            ("a\u{FEFF}", "a\u{FEFF}"),
        ] {
            try folder.write(text, to: "file")
            #expect(
                try readFile(folder.path("file")).contents.revealed() == Array(expected.utf8))
        }
    }

    @Test func `a named pipe is read to its end`() throws {
        let path = folder.path("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        // A thread of its own: blocking one of Swift's few could block them all.
        Thread.detachNewThread {
            let descriptor = open(path, O_WRONLY)
            try? writeAll(SecretBytes("through a pipe".utf8), to: descriptor, named: path)
            close(descriptor)
        }
        let file = try readFile(path)
        #expect(file.contents.revealed() == Array("through a pipe".utf8))
        #expect(!file.status.isRegular)
    }
}

/// The whole process has one standard input, so these tests, which replace it by a pipe, run one
/// after the other.
@Suite(.serialized, .blocking) struct StandardInputTests {
    @Test func `exactly the first line is read`() throws {
        let rest = try withStandardInput("first\r\nsecond\nthird") {
            let first = try readStandardInputLine().revealed()
            #expect(first == Array("first\r".utf8))
            return try readStandardInput().revealed()
        }
        #expect(rest == Array("second\nthird".utf8))
    }

    @Test func `a byte order mark before the first line is removed`() throws {
        let line = try withStandardInput("\u{FEFF}line\n") {
            try readStandardInputLine().revealed()
        }
        #expect(line == Array("line".utf8))
        let all = try withStandardInput("\u{FEFF}all\n") { try readStandardInput().revealed() }
        #expect(all == Array("all\n".utf8))
    }

    @Test func `lines are read one after the other, and the last one needs no line feed`() throws {
        let lines = try withStandardInput("a\n\nb") {
            try (0..<4).map { _ in try readStandardInputLine().revealed() }
        }
        #expect(lines == [Array("a".utf8), [], Array("b".utf8), []])
    }

    @Test func `a line can be as long as the limit, and no longer`() throws {
        let fits = try withStandardInput("12345\n") { try readStandardInputLine(limit: 5).count }
        #expect(fits == 5)
        #expect {
            try withStandardInput("123456\n") { try readStandardInputLine(limit: 5) }
        } throws: { error in
            (error as? FileError)?.description
                == "cannot read 'standard input': it holds more than 5 bytes"
        }
    }

    @Test func `all lines together can be as long as the limit, and no longer`() throws {
        let fits = try withStandardInput("12345") { try readStandardInput(limit: 5).count }
        #expect(fits == 5)
        #expect(throws: FileError.self) {
            try withStandardInput("123456") { try readStandardInput(limit: 5) }
        }
    }

    @Test func `an empty stream is an empty line`() throws {
        let counts = try withStandardInput("") {
            [try readStandardInputLine().count, try readStandardInput().count]
        }
        #expect(counts == [0, 0])
    }

    private func withStandardInput<Result>(
        _ text: String, _ body: () throws -> Result
    ) throws -> Result {
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        try writeAll(SecretBytes(text.utf8), to: ends[1], named: "a pipe")
        close(ends[1])
        let saved = dup(STDIN_FILENO)
        dup2(ends[0], STDIN_FILENO)
        close(ends[0])
        defer {
            if saved >= 0 { dup2(saved, STDIN_FILENO) }
            close(saved)
        }
        return try body()
    }
}

@Suite struct FileErrorTests {
    static let kinds: [(String, CInt, Bool)] = [
        ("no space", ENOSPC, true), ("over quota", EDQUOT, true), ("input/output", EIO, true),
        ("too many files", EMFILE, true), ("not allowed", EACCES, false),
        ("missing", ENOENT, false),
        ("read-only", EROFS, false),
    ]

    @Test(arguments: kinds) func `temporary errors are recognised`(
        _ name: String, _ code: CInt, _ expected: Bool
    ) {
        #expect(FileError("write", "f", code: code).isTemporary == expected)
        #expect(FileError("write", "f", code: code).isMissing == (code == ENOENT))
        #expect(!FileError("write", "f", code: code).reason.isEmpty)
    }

    @Test func `an error that a limit causes names the limit`() {
        let remedies = [EMFILE: "ulimit -n", EFBIG: "ulimit -f", ENFILE: "fs.file-max"]
        for (code, words) in remedies {
            let remedy = FileError("write", "f", code: code).remedy ?? ""
            #expect(remedy.contains(words), "\(remedy)")
        }
        #expect(FileError("write", "f", code: ENOSPC).remedy == nil)
    }

    @Test func `an interrupted system call is repeated`() throws {
        var calls = 0
        let result = try system("read", "f") { () -> Int in
            calls += 1
            errno = EINTR
            return calls < 3 ? -1 : 7
        }
        #expect(result == 7 && calls == 3)
    }

    @Test func `a variable has the value that getenv returns`() {
        #expect(environment("PATH") == ProcessInfo.processInfo.environment["PATH"])
        #expect(environment("SIWA_NOT_SET") == nil)
    }
}
