import Glibc
import SIWACrypto
import SIWASystem
import SIWATestSupport
import Synchronization
import Testing

/// A command replaces only what it writes itself.
@Suite(.blocking) struct ReplaceFileTests {
    let folder: Folder

    init() throws { folder = try Folder() }

    /// Everything that begins with `page` is the product.
    private static func rule(
        allowsStreams: Bool = true, _ isAsked: @escaping @Sendable () -> Void = {}
    ) -> ReplacementRule {
        ReplacementRule("a page", permissions: 0o640, allowsStreams: allowsStreams) { contents in
            isAsked()
            return contents.revealed().starts(with: "page".utf8)
        }
    }

    private func replace(_ name: String, _ rule: ReplacementRule = rule()) throws {
        try replaceFile(SecretBytes("page 2".utf8), at: folder.path(name), rule)
    }

    private func expectRefusal(_ name: String, _ rule: ReplacementRule = rule()) {
        let path = folder.path(name)
        for call in [{ try checkReplacement(at: path, rule) }, { try replace(name, rule) }] {
            #expect {
                try call()
            } throws: { error in
                (error as? FileError)?.isRefusedReplacement == true
            }
        }
    }

    @Test(arguments: [nil, "", "\u{FEFF}", "page 1", "\u{FEFF}page 1"])
    func `an empty file and an earlier product are replaced, and a missing one is created`(
        _ old: String?
    ) throws {
        if let old { try folder.write(old, to: "file", permissions: 0o666) }
        try checkReplacement(at: folder.path("file"), Self.rule())
        try replace("file")
        #expect(try folder.read("file") == "page 2")
        #expect(fileStatus(folder.path("file"))?.permissions == 0o640)
        #expect(folder.names == ["file"], "no temporary file stays")
    }

    @Test(arguments: ["-----BEGIN PRIVATE KEY-----", "\n", " page"])
    func `any other file is kept unchanged`(_ old: String) throws {
        try folder.write(old, to: "file", permissions: 0o644)
        expectRefusal("file")
        #expect(try folder.read("file") == old)
        #expect(fileStatus(folder.path("file"))?.permissions == 0o644)
        #expect(folder.names == ["file"])
    }

    @Test func `a link is followed, and its target decides`() throws {
        try folder.write("key", to: "key")
        try folder.link("link", to: "key")
        expectRefusal("link")
        #expect(try folder.read("key") == "key")
        try folder.write("page 1", to: "key")
        try replace("link")
        #expect(try folder.read("key") == "page 2")
        #expect(try folder.isLink("link"))
    }

    /// A rule with which another process acts after the first check.
    private static func rule(meanwhile act: @escaping @Sendable () -> Void) -> ReplacementRule {
        let isFirst = Atomic(true)
        return rule(allowsStreams: true) {
            if isFirst.exchange(false, ordering: .relaxed) { act() }
        }
    }

    @Test func `a key that replaces the product after the check is kept`() throws {
        try folder.write("key", to: "key")
        let (key, path) = (folder.path("key"), folder.path("file"))
        try expectKept { rename(key, path) }
    }

    @Test func `a key that is written into the product after the check is kept`() throws {
        let path = folder.path("file")
        try expectKept {
            let file = open(path, O_WRONLY | O_TRUNC)
            _ = write(file, "key", 3)
            close(file)
        }
    }

    private func expectKept(after act: @escaping @Sendable () -> Void) throws {
        let path = folder.path("file")
        try folder.write("page 1", to: "file")
        #expect {
            try replaceFile(SecretBytes("page 2".utf8), at: path, Self.rule(meanwhile: act))
        } throws: { error in
            (error as? FileError)?.isRefusedReplacement == true
        }
        #expect(try folder.read("file") == "key")
        #expect(folder.names == ["file"])
    }

    @Test func `a pipe is refused or written, and checking it does not open it`() throws {
        let path = folder.path("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        // Without a reader, opening it for writing would wait.
        try checkReplacement(at: path, Self.rule())
        expectRefusal("pipe", Self.rule(allowsStreams: false))
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        try replace("pipe")
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(read(reader, &bytes, 16) == 6)
    }

    @Test func `a device and an open stream are written without being replaced`() throws {
        for path in ["/dev/null", "/dev/fd/2"] {
            try checkReplacement(at: path, Self.rule())
            #expect(throws: FileError.self) {
                try checkReplacement(at: path, Self.rule(allowsStreams: false))
            }
        }
        try replaceFile(SecretBytes("page".utf8), at: "/dev/null", Self.rule())
    }

    @Test func `concurrent runs leave one whole product and no other file`() async throws {
        try folder.write("page 1", to: "file")
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask { (try? (0..<20).forEach { _ in try replace("file") }) != nil }
            }
            for await isDone in group { #expect(isDone) }
        }
        #expect(try folder.read("file") == "page 2")
        #expect(folder.names == ["file"])
    }

    @Test func `reading a regular file never waits for a pipe`() throws {
        try folder.write("\u{FEFF}text", to: "file")
        #expect(try readRegularFile(folder.path("file")).contents.revealed() == Array("text".utf8))
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        #expect(throws: FileError.self) { try readRegularFile(folder.path("pipe")) }
        #expect(throws: FileError.self) { try readRegularFile("/dev/null") }
        #expect { try readRegularFile(folder.path("absent")) } throws: { error in
            (error as? FileError)?.isMissing == true
        }
    }
}
