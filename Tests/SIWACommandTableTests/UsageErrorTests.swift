import SIWACommandTable
import Testing

@Suite struct UsageErrorTests {
    struct Row: CustomTestStringConvertible {
        let testDescription: String
        let line: [String]
        let message: String
        let hints: [String]

        init(_ name: String, _ line: String, _ message: String, _ hints: String...) {
            testDescription = name
            self.line = line.split(separator: " ").map { String($0) }
            self.message = message
            self.hints = hints
        }
    }

    static let commands = [
        Row("nothing", "", "a command is missing", "see 'siwa --help'"),
        Row("only a flag", "-v", "a command is missing", "see 'siwa --help'"),
        Row("only a double hyphen", "-- revoke", "a command is missing", "see 'siwa --help'"),
        Row(
            "misspelt", "rvoke -t x", "unknown command 'rvoke'", "did you mean 'revoke'?",
            "see 'siwa --help'"),
        Row(
            "swapped letters", "ervoke", "unknown command 'ervoke'", "did you mean 'revoke'?",
            "see 'siwa --help'"),
        Row(
            "begun", "pub", "unknown command 'pub'", "did you mean 'public-key'?",
            "see 'siwa --help'"),
        Row(
            "in capitals", "REVOKE", "unknown command 'REVOKE'", "did you mean 'revoke'?",
            "see 'siwa --help'"),
        Row("like nothing", "frobnicate", "unknown command 'frobnicate'", "see 'siwa --help'"),
        Row(
            "first of two misspelt", "conifg show", "unknown command 'conifg'",
            "did you mean 'config show'?", "see 'siwa --help'"),
        Row(
            "first of two misspelt, alone", "confg", "unknown command 'confg'",
            "did you mean 'config'?", "see 'siwa --help'"),
        Row(
            "second word missing", "config",
            "'config' needs a second word: config show or config path", "see 'siwa --help'"),
        Row(
            "second word misspelt", "config shwo", "unknown command 'config shwo'",
            "did you mean 'config show'?", "see 'siwa --help'"),
        Row(
            "second word like nothing", "config frobnicate",
            "'config' needs a second word: config show or config path", "see 'siwa --help'"),
        Row(
            "version of something", "version revoke", "unexpected argument 'revoke'",
            "see 'siwa --help'"),
        Row(
            "flag between the words", "config -v show",
            "'config' needs a second word: config show or config path", "see 'siwa --help'"),
        Row(
            "help of nothing", "help frobnicate", "unknown command 'frobnicate'",
            "see 'siwa --help'"),
        Row(
            "help of too much", "help revoke it", "unexpected argument 'it'",
            "see 'siwa --help'"),
        Row("help with a flag", "help --frob", "unknown flag '--frob'", "see 'siwa --help'"),
    ]

    static let flags = [
        Row(
            "misspelt", "revoke --tokne x", "unknown flag '--tokne'", "did you mean '--token'?",
            "see 'siwa revoke --help'"),
        Row(
            "begun", "revoke --to x", "unknown flag '--to'", "did you mean '--token'?",
            "see 'siwa revoke --help'"),
        Row(
            "built-in misspelt", "revoke --hepl", "unknown flag '--hepl'",
            "did you mean '--help'?", "see 'siwa revoke --help'"),
        Row(
            "single hyphen", "revoke -confirm", "unknown flag '-c'", "did you mean '--confirm'?",
            "see 'siwa revoke --help'"),
        Row("letter", "revoke -vx", "unknown flag '-x'", "see 'siwa revoke --help'"),
        Row(
            "value of an operand", "public-key -Zx9", "unknown flag '-Z'",
            "put '--' before an argument that begins with '-'", "see 'siwa public-key --help'"),
        Row(
            "before the command", "--token x revoke", "unknown flag '--token'",
            "put the flags of a command after the command", "see 'siwa --help'"),
        Row(
            "not of this command", "--profile x config path", "unknown flag '--profile'",
            "see 'siwa config path --help'"),
        Row(
            "value for a flag", "revoke --confirm=yes -t x", "--confirm takes no value",
            "see 'siwa revoke --help'"),
        Row(
            "value for help", "revoke --help=yes -t x", "--help takes no value",
            "see 'siwa revoke --help'"),
        Row("value missing", "revoke --token", "--token needs a value", "see 'siwa revoke --help'"),
        Row(
            "value of a letter missing", "revoke -vt", "-t needs a value",
            "see 'siwa revoke --help'"),
        Row(
            "value like a flag", "revoke --token -x", "--token needs a value",
            "a value that begins with '-' is written --token=VALUE", "see 'siwa revoke --help'"),
        Row(
            "double hyphen for a value", "revoke -t -- x", "-t needs a value",
            "a value that begins with '-' is written -tVALUE", "see 'siwa revoke --help'"),
        Row(
            "given twice", "revoke -t x --token=x", "--token is given more than once",
            "see 'siwa revoke --help'"),
        Row(
            "given before and after", "--profile a config show --profile b",
            "--profile is given more than once", "see 'siwa config show --help'"),
    ]

    static let values = [
        Row(
            "no number", "config show --max-attempts ten",
            "--max-attempts needs a whole number, not 'ten'", "see 'siwa config show --help'"),
        Row(
            "number too large", "config show --max-attempts 99999999999999999999",
            "--max-attempts needs a whole number, not '99999999999999999999'",
            "see 'siwa config show --help'"),
        Row(
            "no choice", "public-key k --format der-base46",
            "--format needs one of pem, jwk, der-base64, not 'der-base46'",
            "did you mean 'der-base64'?", "see 'siwa public-key --help'"),
        Row(
            "no choice for an operand", "completions tcsh",
            "SHELL needs one of bash, zsh, fish, not 'tcsh'", "see 'siwa completions --help'"),
        Row(
            "escape sequence", "public-key k --format \u{1B}[31m",
            "--format needs one of pem, jwk, der-base64, not '\\u{1B}[31m'",
            "see 'siwa public-key --help'"),
        Row(
            "direction override", "public-key k --format a\u{202E}b",
            "--format needs one of pem, jwk, der-base64, not 'a\\u{202E}b'",
            "see 'siwa public-key --help'"),
        Row(
            "long", "public-key k --format " + String(repeating: "y", count: 100),
            "--format needs one of pem, jwk, der-base64, not '\(String(repeating: "y", count: 40))…'",
            "see 'siwa public-key --help'"),
        Row(
            "secret with nothing after @", "revoke --token @",
            "--token needs a value, -, @PATH or @env:NAME, with nothing left empty",
            "see 'siwa revoke --help'"),
        Row(
            "required option missing", "revoke", "missing --token TOKEN",
            "see 'siwa revoke --help'"),
        Row(
            "required operand missing", "public-key", "missing SOURCE",
            "see 'siwa public-key --help'"),
        Row(
            "operand too many", "completions zsh fish", "unexpected argument 'fish'",
            "see 'siwa completions --help'"),
        Row(
            "operand for a command without operands", "config path x", "unexpected argument 'x'",
            "see 'siwa config path --help'"),
        Row(
            "operand too many beside a secret", "revoke -t x y",
            "unexpected argument (not shown, as it may be a secret)", "see 'siwa revoke --help'"),
        Row(
            "standard input twice", "revoke --token - --code -",
            "standard input can give only one value, but --token and --code ask for it",
            "see 'siwa revoke --help'"),
    ]

    @Test(arguments: commands) func `an unknown command is reported`(_ row: Row) { check(row) }

    @Test(arguments: flags) func `an unknown flag is reported`(_ row: Row) { check(row) }

    @Test(arguments: values) func `an invalid value is reported`(_ row: Row) { check(row) }

    @Test func `one error names all missing options`() throws {
        let tool = Tool<SampleWorld>(
            name: "t", version: "1", abstract: "A.", commands: [Demanding.self], globals: [])
        let error = #expect(throws: UsageError.self) { try tool.parse(["demanding", "--b", "x"]) }
        #expect(error?.message == "missing --a A, C and D")
    }

    @Test func `errors are equal only if all their properties are`() {
        let error = UsageError(
            problem: .missingValue(option: "-t", followedByFlag: true), subject: "t")
        let others = [
            UsageError(problem: .missingValue(option: "-t", followedByFlag: false), subject: "t"),
            UsageError(problem: .missingValue(option: "-u", followedByFlag: true), subject: "t"),
            UsageError(problem: .missingValue(option: "-t", followedByFlag: true), subject: "u"),
        ]
        #expect(!others.contains(error))
    }

    private func check(_ row: Row) {
        let error = #expect(throws: UsageError.self) { try sampleTool.parse(row.line) }
        #expect(error?.message == row.message)
        #expect(error?.hints == row.hints)
    }
}

private struct Demanding: Command {
    static let name = "demanding"
    static let abstract = "Demand four things."
    static let parameters: [Parameter<Self>] = [
        .option("a", \.$first, value: "A", help: "First."),
        .option("b", \.$second, value: "B", help: "Second."),
        .operand("C", \.$third, help: "Third."),
        .operand("D", \.$fourth, help: "Fourth."),
    ]

    @Required var first: Int
    @Required var second: String
    @Required var third: KeyFormat
    @Required var fourth: SecretArgument

    func run(in world: SampleWorld) async throws {}
}
