import Testing

@testable import SIWACommandTable

@Suite struct FaultsTests {
    @Test func `the sample tool has no faults`() {
        #expect(sampleTool.faults() == [])
    }

    struct Row: CustomTestStringConvertible {
        let testDescription: String
        let parameters: [ParameterInfo]
        let fault: String

        init(_ name: String, _ parameters: [ParameterInfo], _ fault: String) {
            testDescription = name
            self.parameters = parameters
            self.fault = fault
        }
    }

    static let rows = [
        Row("help", [info(help: "No stop")], "c: --x: the help does not end in a full stop"),
        Row(
            "name in capitals", [info("Xy")], "c: --Xy: the name is not in lower case with hyphens"),
        Row("underscore", [info("x_y")], "c: --x_y: the name is not in lower case with hyphens"),
        Row("hyphen in front", [info("-x")], "c: ---x: the name is not in lower case with hyphens"),
        Row("no name", [info("")], "c: --: the name is not in lower case with hyphens"),
        Row(
            "operand in lower case", [info("x", .operand)],
            "c: x: the name is not in upper case with hyphens"),
        Row("no value name", [info("x", .option)], "c: --x: the value has no name"),
        Row("empty value name", [info("x", .option, value: "")], "c: --x: the value has no name"),
        Row("flag with choices", [info(choices: ["a"])], "c: --x: a flag has choices"),
        Row(
            "choice with a space", [info("X", .operand, choices: ["a b"])],
            "c: X: a choice has characters that shells take for theirs"),
        Row(
            "invalid letter", [info(short: "-")],
            "c: --x: the short name is not one letter or digit"),
        Row("name twice", [info(), info("x", .option, value: "V")], "c: --x occurs twice"),
        Row(
            "letter twice", [info("x", short: "k"), info("y", short: "k")], "c: -k occurs twice"),
        Row("letter of help", [info(short: "h")], "c: -h occurs twice"),
        Row("name of help", [info("help")], "c: --help occurs twice"),
        Row("name of version", [info("version")], "c: --version occurs twice"),
        Row(
            "operand after the rest", [info("A", .operand, .repeating), info("B", .operand)],
            "c: B follows A, which takes the rest"),
        Row(
            "required after optional", [info("A", .operand), info("B", .operand, .required)],
            "c: B is required but follows A, which is not"),
    ]

    @Test(arguments: rows) func `a fault of the parameters is found`(_ row: Row) {
        let command = CommandInfo(
            name: "c", abstract: "A.", discussion: "", examples: [],
            parameters: row.parameters + BuiltIn.flags)
        #expect(Self.tool([command]).faults == [row.fault])
    }

    static let commands: [([String], String, String)] = [
        (["a", "a"], "A.", "two commands are named 'a'"),
        (["help"], "A.", "'help' is the parser's own"),
        (["Ab"], "A.", "Ab: the name is not lower-case words with hyphens"),
        (["a  b"], "A.", "a  b: the name is not lower-case words with hyphens"),
        ([""], "A.", ": the name is not lower-case words with hyphens"),
        (["a"], "A", "a: the abstract does not end in a full stop"),
    ]

    @Test(arguments: commands) func `a fault of a command is found`(
        _ names: [String], _ abstract: String, _ fault: String
    ) {
        let commands = names.map {
            CommandInfo(
                name: $0, abstract: abstract, discussion: "", examples: [],
                parameters: BuiltIn.flags)
        }
        #expect(Self.tool(commands).faults == [fault])
    }

    @Test func `a global option that is not marked as global is found`() {
        #expect(Self.tool([], globals: [Self.info()]).faults == ["--x is not marked global"])
    }

    @Test func `an invalid release date is found`() {
        #expect(
            Self.tool([], released: "31 January").faults
                == ["the day of release is not written as 2025-01-31"])
    }

    private static func tool(
        _ commands: [CommandInfo], globals: [ParameterInfo] = [], released: String = ""
    ) -> ToolInfo {
        ToolInfo(
            name: "t", version: "1", released: released, abstract: "A.", discussion: "",
            commands: commands, globals: globals, environment: [], exitCodes: [], topics: [])
    }

    private static func info(
        _ name: String = "x", _ kind: ParameterInfo.Kind = .flag,
        _ arity: ParameterInfo.Arity = .optional, short: String? = nil, value: String? = nil,
        help: String = "Help.", choices: [String] = []
    ) -> ParameterInfo {
        ParameterInfo(
            kind: kind, name: name, short: short, valueName: value, help: help, arity: arity,
            choices: choices, expectation: "", isSecret: false, valuePrefixes: [], completion: .none
        )
    }
}
