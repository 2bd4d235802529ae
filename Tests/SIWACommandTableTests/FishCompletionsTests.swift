import SIWACommandTable
import SIWATestSupport
import Testing

@Suite(.enabled(if: Executable.fish != nil, "fish is not installed"), .blocking)
struct FishCompletionsTests {
    @Test func `the script equals its snapshot`() throws {
        try Snapshot(name: "completions.fish").check(sampleTool.completionScript(for: .fish).text)
    }

    @Test func `the script has no syntax errors`() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("siwa.fish", sampleTool.completionScript(for: .fish).text)
        #expect(try await Executable.fish?.printed(["--no-config", "--no-execute", file]) == "")
    }

    @Test(arguments: CompletionRows.rows) func `every kind of word is completed`(
        _ line: String, _ offers: [String]
    )
        async throws
    {
        #expect(try await complete(line) == offers)
    }

    static let attached: [(line: String, offers: [String])] = [
        ("siwa public-key --format=d", ["--format=der-base64"]),
        ("siwa revoke --out=not", ["--out=note.txt"]),
        ("siwa revoke --token=@not", ["--token=@note.txt"]),
    ]

    @Test(arguments: attached) func `attached values are completed`(
        _ line: String, _ offers: [String]
    ) async throws {
        #expect(try await complete(line) == offers)
    }

    /// What fish would offer; folders come with a slash, and every offer with its description.
    private func complete(_ line: String) async throws -> [String] {
        let folder = try CompletionRows.makeFolder()
        let tool =
            "function siwa; test \"$argv\" = 'config profiles'; and printf 'app\\nweb\\n'; end"
        let source = sampleTool.completionScript(for: .fish).text + "\(tool)\ncomplete -C $argv[1]"
        let output = try await Executable.fish?.printed(
            ["--no-config", "-c", source, line], in: folder.path)
        return (output ?? "").split(separator: "\n").map { offer in
            let term = offer.prefix { $0 != "\t" }
            return String(term.hasSuffix("/") ? term.dropLast() : term)
        }.sorted()
    }
}
