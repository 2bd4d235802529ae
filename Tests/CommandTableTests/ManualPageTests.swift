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

    @Test(.enabled(if: Program.man != nil, "man is not installed"), arguments: pages)
    func `man shows it without a warning`(_ page: (file: String, command: String?)) throws {
        let scratch = try Scratch()
        let file = try scratch.write(sampleTool.manual(for: page.command), to: page.file)
        let shown = try Program.man?.output(["--warnings", "-E", "UTF-8", "-l", file]) ?? ""
        #expect(shown.hasPrefix(page.file.dropLast(2).uppercased() + "(1)"))
        #expect(!shown.contains("warning"))
    }

    @Test(.enabled(if: Program.mandoc != nil, "mandoc is not installed"), arguments: pages)
    func `mandoc finds nothing to object to`(_ page: (file: String, command: String?)) throws {
        let scratch = try Scratch()
        let file = try scratch.write(sampleTool.manual(for: page.command), to: page.file)
        #expect(try Program.mandoc?.output(["-T", "lint", file]) == "")
    }

    @Test(.enabled(if: Program.man != nil, "man is not installed"))
    func `man shows every character as it was written`() throws {
        let scratch = try Scratch()
        let file = try scratch.write(Self.odd.manual(for: nil), to: "t.1")
        let shown = try Program.man?.output(["--warnings", "-E", "UTF-8", "-l", file]) ?? ""
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
