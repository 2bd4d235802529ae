import SIWACommandTable
import Testing

@Suite struct HelpPageTests {
    static let pages: [(file: String, command: String?)] = [
        ("help.txt", nil),
        ("help-config.txt", "config"),
        ("help-config-show.txt", "config show"),
        ("help-config-path.txt", "config path"),
        ("help-public-key.txt", "public-key"),
        ("help-revoke.txt", "revoke"),
    ]

    @Test(arguments: pages) func `the page equals its snapshot`(
        _ page: (file: String, command: String?)
    )
        throws
    {
        try Snapshot(name: page.file).check(sampleTool.help(for: page.command))
    }

    @Test(arguments: pages) func `no line of the page is wider than 80 columns`(
        _ page: (file: String, command: String?)
    ) throws {
        let text = try sampleTool.help(for: page.command)
        let tooLong = text.split(separator: "\n").filter { $0.count > 80 }
        #expect(tooLong == [])
        #expect(text.hasSuffix("\n"))
        #expect(!text.hasSuffix("\n\n"))
    }

    @Test func `an unknown command has no page`() {
        #expect(throws: UsageError.self) { try sampleTool.help(for: "frobnicate") }
    }

    @Test func `a long usage line continues below its first word`() throws {
        let tool = Tool<SampleWorld>(
            name: "t", version: "1", abstract: "A.", commands: [Wide.self], globals: [])
        let lines = try tool.help(for: "wide").split(separator: "\n").prefix(2)
        #expect(
            lines == [
                "Usage: t wide --first-long-option FIRST-VALUE --second-long-option SECOND-VALUE",
                "         [OPTIONS]",
            ])
    }
}

private struct Wide: Command {
    static let name = "wide"
    static let abstract = "Need much."
    static let parameters: [Parameter<Self>] = [
        .option("first-long-option", \.$first, value: "FIRST-VALUE", help: "First."),
        .option("second-long-option", \.$second, value: "SECOND-VALUE", help: "Second."),
    ]

    @Required var first: Int
    @Required var second: Int

    func run(in world: SampleWorld) async throws {}
}
