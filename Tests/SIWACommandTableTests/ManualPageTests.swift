import SIWACommandTable
import SIWATestSupport
import Testing

@Suite(.blocking) struct ManualPageTests {
    static let pages: [(file: String, command: String?)] = [
        ("siwa.1", nil),
        ("siwa-config-show.1", "config show"),
        ("siwa-public-key.1", "public-key"),
        ("siwa-revoke.1", "revoke"),
    ]

    @Test(arguments: pages) func `the page equals its snapshot`(
        _ page: (file: String, command: String?)
    )
        throws
    {
        try Snapshot(name: page.file).check(sampleTool.manualPage(for: page.command).text)
    }

    @Test(.enabled(if: Executable.man != nil, "man is not installed"), arguments: pages)
    func `man shows the page without a warning`(_ page: (file: String, command: String?))
        async throws
    {
        let folder = try TemporaryFolder()
        let file = try folder.write(page.file, sampleTool.manualPage(for: page.command).text)
        let shown =
            try await Executable.man?.printed(["--warnings", "-E", "UTF-8", "-l", file]) ?? ""
        #expect(shown.hasPrefix(page.file.dropLast(2).uppercased() + "(1)"))
        #expect(!shown.contains("warning"))
    }

    @Test(.enabled(if: Executable.mandoc != nil, "mandoc is not installed"), arguments: pages)
    func `mandoc reports no problem`(_ page: (file: String, command: String?)) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(page.file, sampleTool.manualPage(for: page.command).text)
        #expect(try await Executable.mandoc?.printed(["-T", "lint", file]) == "")
    }

    @Test(.enabled(if: Executable.man != nil, "man is not installed"))
    func `man shows every character unchanged`() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("t.1", Self.odd.manualPage(for: nil).text)
        let shown =
            try await Executable.man?.printed(["--warnings", "-E", "UTF-8", "-l", file]) ?? ""
        for line in Self.oddities { #expect(shown.contains(line)) }
        #expect(!shown.contains("warning"))
    }

    @Test func `the first word of a two-word command has no page`() {
        #expect(throws: UsageError.self) { try sampleTool.manualPage(for: "config").text }
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
