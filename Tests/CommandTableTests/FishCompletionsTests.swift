import CommandTable
import Foundation
import TestSupport
import Testing

@Suite(.enabled(if: Program.fish != nil, "fish is not installed"), .blocking)
struct FishCompletionsTests {
    @Test func `the script reads as recorded`() throws {
        try Snapshot(name: "completions.fish").check(sampleTool.completions(for: .fish))
    }

    @Test func `the script is sound`() throws {
        let scratch = try Scratch()
        let file = try scratch.write(sampleTool.completions(for: .fish), to: "siwa.fish")
        #expect(try Program.fish?.output(["--no-config", "--no-execute", file]) == "")
    }

    @Test(arguments: CompletionRows.rows) func offers(_ line: String, _ offers: [String]) throws {
        #expect(try complete(line) == offers)
    }

    static let attached: [(line: String, offers: [String])] = [
        ("siwa public-key --format=d", ["--format=der-base64"]),
        ("siwa revoke --out=not", ["--out=note.txt"]),
        ("siwa revoke --token=@not", ["--token=@note.txt"]),
    ]

    @Test(arguments: attached) func `offers attached values`(
        _ line: String, _ offers: [String]
    ) throws {
        #expect(try complete(line) == offers)
    }

    /// What fish would offer; folders come with a slash, and every offer with its description.
    private func complete(_ line: String) throws -> [String] {
        let scratch = try CompletionRows.makeFolder()
        let tool =
            "function siwa; test \"$argv\" = 'config profiles'; and printf 'app\\nweb\\n'; end"
        let source = sampleTool.completions(for: .fish) + "\(tool)\ncomplete -C $argv[1]"
        let output = try Program.fish?.output(
            ["--no-config", "-c", source, line], in: scratch.folder)
        return (output ?? "").split(separator: "\n").map { offer in
            let term = offer.prefix { $0 != "\t" }
            return String(term.hasSuffix("/") ? term.dropLast() : term)
        }.sorted()
    }
}
