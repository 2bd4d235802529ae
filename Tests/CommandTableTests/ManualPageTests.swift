import CommandTable
import TestSupport
import Testing

@Suite(.blocking) struct ManualPageTests {
    static let pages: [(file: String, command: String?)] = [
        ("siwa.1", nil),
        ("siwa-config-show.1", "config show"),
        ("siwa-public-key.1", "public-key"),
        ("siwa-revoke.1", "revoke"),
    ]

    @Test(arguments: pages) func `reads as recorded`(_ page: (file: String, command: String?))
        throws
    {
        try Snapshot(name: page.file).check(sampleTool.manual(for: page.command))
    }

    @Test(.enabled(if: Executable.man != nil, "man is not installed"), arguments: pages)
    func `man shows it without a warning`(_ page: (file: String, command: String?)) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(page.file, sampleTool.manual(for: page.command))
        let shown =
            try await Executable.man?.printed(["--warnings", "-E", "UTF-8", "-l", file]) ?? ""
        #expect(shown.hasPrefix(page.file.dropLast(2).uppercased() + "(1)"))
        #expect(!shown.contains("warning"))
    }

    @Test(.enabled(if: Executable.mandoc != nil, "mandoc is not installed"), arguments: pages)
    func `mandoc finds nothing to object to`(_ page: (file: String, command: String?)) async throws
    {
        let folder = try TemporaryFolder()
        let file = try folder.write(page.file, sampleTool.manual(for: page.command))
        #expect(try await Executable.mandoc?.printed(["-T", "lint", file]) == "")
    }

    @Test(.enabled(if: Executable.man != nil, "man is not installed"))
    func `man shows every character as it was written`() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("t.1", Self.odd.manual(for: nil))
        let shown =
            try await Executable.man?.printed(["--warnings", "-E", "UTF-8", "-l", file]) ?? ""
        for line in Self.oddities { #expect(shown.contains(line)) }
        #expect(!shown.contains("warning"))
    }

    @Test func `has no page for the first word of two`() {
        #expect(throws: UsageError.self) { try sampleTool.manual(for: "config") }
    }

    static let oddities = [
        #".dot 'quote' "double" `grave` ^hat ~tilde back\slash \fBno\fR"#, #"'quoted at once'"#,
        #"naïve – “Apple” 🍏 x"#,
    ]

    static let odd = Tool<SampleWorld>(
        name: "t", version: "1 \"x\"", released: "2025-01-31", abstract: "Do it.",
        discussion: oddities.joined(separator: "\n\n") + "\n\n "
            + oddities.joined(separator: "\n "),
        commands: [], globals: [])
}
