import SIWACommandTable
import Testing

@Suite struct ParseTests {
    struct Row: CustomTestStringConvertible {
        let testDescription: String
        let line: [String]
        let expected: String

        init(_ name: String, _ line: String, _ expected: String) {
            self.init(name, line.split(separator: " ").map { String($0) }, expected)
        }

        init(_ name: String, _ line: [String], _ expected: String) {
            testDescription = name
            self.line = line
            self.expected = expected
        }
    }

    static let commands = [
        Row("separate value", "revoke --token abc", "revoke token=literal abc"),
        Row("attached value", "revoke --token=abc", "revoke token=literal abc"),
        Row("value with equals", "revoke --token a=b=c", "revoke token=literal a=b=c"),
        Row("attached value with equals", "revoke --token=a=b", "revoke token=literal a=b"),
        Row("attached value with hyphen", "revoke --token=-a", "revoke token=literal -a"),
        Row("attached double hyphen", "revoke --token=--help", "revoke token=literal --help"),
        Row("lone hyphen is a value", "revoke --token -", "revoke token=standard input"),
        Row("letter, separate value", "revoke -t abc", "revoke token=literal abc"),
        Row("letter, attached value", "revoke -tabc", "revoke token=literal abc"),
        Row("letter, attached hyphens", "revoke -t--x", "revoke token=literal --x"),
        Row("bundle", "revoke -vq -t a", "revoke token=literal a quiet verbose"),
        Row("bundle ending in a value", "revoke -vqta", "revoke token=literal a quiet verbose"),
        Row("bundle, separate value", "revoke -vt a", "revoke token=literal a verbose"),
        Row("flag twice", "revoke -v --verbose -t a", "revoke token=literal a verbose"),
        Row(
            "repeating replaces the default", "revoke -t a --audience x --audience=y",
            #"revoke token=literal a audiences=["x", "y"]"#),
        Row("empty text", ["revoke", "-t", "a", "--out", ""], "revoke token=literal a out="),
        Row("empty attached text", "revoke -t a --out=", "revoke token=literal a out="),
        Row("optional secret", "revoke -t a --code @f", "revoke token=literal a code=file f"),
        Row("operands before options", "public-key k -f jwk", "public-key k format=jwk"),
        Row("operands after options", "public-key -f jwk k", "public-key k format=jwk"),
        Row(
            "operands around options", "public-key k -v l -q m n",
            #"public-key k l notes=["m", "n"] quiet verbose"#),
        Row("hyphen operand", "public-key -", "public-key -"),
        Row("double hyphen", "public-key -v -- -f l", "public-key -f l verbose"),
        Row("two double hyphens", "public-key -- k --", "public-key k --"),
        Row("help after double hyphen", "public-key -- --help", "public-key --help"),
        Row("empty operand", ["public-key", ""], "public-key "),
        Row(
            "combining mark after the equals sign", ["revoke", "--token=\u{301}x"],
            "revoke token=literal \u{301}x"),
        Row("two words", "config show", "config show folder=."),
        Row("two words, option", "config show --folder x", "config show folder=x"),
        Row("no options at all", "config path", "config path"),
        Row("global before", "--profile p -q config show", "config show folder=. profile=p quiet"),
        Row("global after", "config show --profile=p -q", "config show folder=. profile=p quiet"),
        Row("global letter before", "-pweb config show", "config show folder=. profile=web"),
        Row("globals around", "-v config show -q", "config show folder=. quiet verbose"),
        Row("number", "--max-attempts 12 config show", "config show folder=. attempts=12"),
        Row(
            "number below zero", "config show --max-attempts=-1", "config show folder=. attempts=-1"
        ),
    ]

    static let builtIn = [
        Row("--help", "--help", "help: Usage: siwa COMMAND [OPTIONS] [ARGUMENTS]"),
        Row("-h", "-h", "help: Usage: siwa COMMAND [OPTIONS] [ARGUMENTS]"),
        Row("bundled h", "-vh", "help: Usage: siwa COMMAND [OPTIONS] [ARGUMENTS]"),
        Row(
            "help after a fault", "--bogus --help",
            "help: Usage: siwa COMMAND [OPTIONS] [ARGUMENTS]"),
        Row("help", "help", "help: Usage: siwa COMMAND [OPTIONS] [ARGUMENTS]"),
        Row("help --help", "help --help", "help: Usage: siwa COMMAND [OPTIONS] [ARGUMENTS]"),
        Row("help of a command", "help revoke", "help: Usage: siwa revoke --token TOKEN [OPTIONS]"),
        Row("help of two words", "help config show", "help: Usage: siwa config show [OPTIONS]"),
        Row(
            "help of a group", "help config",
            "help: Usage: siwa config COMMAND [OPTIONS] [ARGUMENTS]"),
        Row("group --help", "config -h", "help: Usage: siwa config COMMAND [OPTIONS] [ARGUMENTS]"),
        Row(
            "required missing", "revoke --help", "help: Usage: siwa revoke --token TOKEN [OPTIONS]"),
        Row(
            "value missing", "revoke -t --help", "help: Usage: siwa revoke --token TOKEN [OPTIONS]"),
        Row("unknown flag", "revoke --no -h", "help: Usage: siwa revoke --token TOKEN [OPTIONS]"),
        Row("flag before", "--help revoke", "help: Usage: siwa revoke --token TOKEN [OPTIONS]"),
        Row(
            "fault before", "--no revoke --help", "help: Usage: siwa revoke --token TOKEN [OPTIONS]"
        ),
        Row("--version", "--version", "version: siwa 1.2.3\n"),
        Row("version of a command", "revoke --version", "version: siwa 1.2.3\n"),
        Row("version of a group", "config --version", "version: siwa 1.2.3\n"),
        Row(
            "help wins over version", "revoke --version -h",
            "help: Usage: siwa revoke --token TOKEN [OPTIONS]"),
    ]

    @Test(arguments: commands) func `a command line is parsed into its command`(_ row: Row) throws {
        #expect(try sampleTool.parse(row.line).summary == row.expected)
    }

    @Test(arguments: builtIn) func `help and version options are recognised`(_ row: Row) throws {
        #expect(try sampleTool.parse(row.line).summary == row.expected)
    }

    @Test func `the parsed command runs`() async throws {
        guard case .run(let command) = try sampleTool.parse(["config", "path"]) else {
            Issue.record("not a command")
            return
        }
        try await command.run(in: SampleWorld())
        #expect(command is ConfigPath)
    }

    @Test(.timeLimit(.minutes(1))) func `a value of many megabytes is parsed`() throws {
        let value = String(repeating: "x", count: 8_000_000)
        let invocation = try sampleTool.parse(["revoke", "--token=\(value)", "--out", value])
        #expect(invocation.summary == "revoke token=literal \(value) out=\(value)")
    }

    @Test(.timeLimit(.minutes(1))) func `many operands are parsed in linear time`() throws {
        let many = (0..<100_000).map { "n\($0)" }
        let invocation = try sampleTool.parse(["public-key", "k", "l"] + many)
        #expect(invocation.summary == "public-key k l notes=\(many)")
    }

    @Test(.timeLimit(.minutes(1))) func `a long bundle of flags is parsed in linear time`() throws {
        let bundle = "-" + String(repeating: "v", count: 500_000)
        #expect(try sampleTool.parse(["config", "show", bundle]).summary.hasSuffix("verbose"))
    }

    @Test(.timeLimit(.minutes(1))) func `many unknown flags are refused in linear time`() {
        let many = (0..<50_000).map { "--unknown-\($0)" }
        #expect(throws: UsageError.self) { try sampleTool.parse(["config", "show"] + many) }
    }
}
