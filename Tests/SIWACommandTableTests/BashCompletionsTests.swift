import SIWACommandTable
import SIWATestSupport
import Testing

@Suite(.enabled(if: Executable.bash != nil, "bash is not installed"), .blocking)
struct BashCompletionsTests {
    @Test func `the script equals its snapshot`() throws {
        try Snapshot(name: "completions.bash").check(sampleTool.completionScript(for: .bash).text)
    }

    @Test(arguments: CompletionRows.rows) func `every kind of word is completed`(
        _ line: String, _ offers: [String]
    )
        async throws
    {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        #expect(try await complete(words.map { String($0) }, in: line) == offers)
    }

    /// Bash takes words apart at `=`, `:` and `@`, and replaces only the last piece.
    static let pieces: [(line: String, words: [String], offers: [String])] = [
        ("siwa public-key --format=d", ["--format", "=", "d"], ["der-base64"]),
        ("siwa public-key --format=", ["--format", "="], ["der-base64", "jwk", "pem"]),
        ("siwa public-key --out=a:b not", ["--out", "=", "a", ":", "b", "not"], ["note.txt"]),
        ("siwa public-key a:b not", ["a", ":", "b", "not"], []),
        ("siwa public-key -f d", ["-f", "d"], ["der-base64"]),
        ("siwa revoke --out=not", ["--out", "=", "not"], ["note.txt"]),
        ("siwa revoke -t @not", ["-t", "@", "not"], ["note.txt"]),
        ("siwa revoke --token=@not", ["--token", "=", "@", "not"], ["note.txt"]),
    ]

    @Test(arguments: pieces) func `a word in several pieces is completed`(
        _ row: (line: String, words: [String], offers: [String])
    ) async throws {
        let command = row.line.split(separator: " ").prefix(2).map { String($0) }
        #expect(try await complete(command + row.words, in: row.line) == row.offers)
    }

    @Test func `the script works without COMP_LINE`() async throws {
        #expect(try await complete(["siwa", "public-key", "-f", "d"], in: "") == ["der-base64"])
    }

    private func complete(_ words: [String], in line: String) async throws -> [String] {
        let folder = try CompletionRows.makeFolder()
        let script = """
            COMP_LINE=$1
            shift
            COMP_WORDS=("$@")
            COMP_CWORD=$(($# - 1))
            _siwa
            if ((${#COMPREPLY[@]})); then printf '%s\\n' "${COMPREPLY[@]}"; fi
            """
        let source =
            sampleTool.completionScript(for: .bash).text + CompletionRows.tool + "\n" + script
        let output = try await Executable.bash?.printed(
            ["--norc", "-c", source, "bash", line] + words, in: folder.path)
        return (output ?? "").split(separator: "\n").map { String($0) }.sorted()
    }
}
