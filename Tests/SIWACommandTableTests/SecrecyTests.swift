import SIWACommandTable
import Testing

/// Users paste tokens in wrong places; no message may contain a token.
@Suite struct SecrecyTests {
    static let token = "r0f1e2d3c4b5a697887766554433221100.0.mrtu.S-e_CrEtSeCrEtSeCrEt"

    /// One that has the shape of a name but for its length.
    static let plain = "c0ffee00c0ffee11c0ffee22c0ffee33c0ffee44c0ffee55c0ffee66c0ffee77"

    struct Row: CustomTestStringConvertible {
        let testDescription: String
        let line: [String]

        init(_ name: String, _ line: String...) {
            testDescription = name
            self.line = line
        }
    }

    static let rows = [
        Row("as the command", token),
        Row("as the command, after a flag", "-v", token, "revoke"),
        Row("as the second word", "config", token),
        Row("a plain one as the command", plain),
        Row("a plain one as a flag", "revoke", "--\(plain)"),
        Row("a plain one as the topic of help", "help", "revoke", plain),
        Row("a plain one in a number", "revoke", "-t", "x", "--max-attempts", plain),
        Row("as the topic of help", "help", token),
        Row("as a flag", "revoke", "--\(token)"),
        Row("as a flag before the command", "--\(token)", "revoke"),
        Row("as letters", "revoke", "-\(token)"),
        Row("attached to an unknown flag", "revoke", "--tokne=\(token)"),
        Row("attached to an unknown flag before the command", "--tokne=\(token)", "revoke"),
        Row("attached to an unknown letter", "revoke", "-x\(token)"),
        Row("attached to a flag", "revoke", "--confirm=\(token)"),
        Row("attached with a combining mark", "revoke", "--token=\u{301}\(token)", "x"),
        Row("after an unknown flag", "revoke", "--tokne", token),
        Row("as an operand", "revoke", token),
        Row("as a second operand", "revoke", "-t", "x", token),
        Row("given twice", "revoke", "--token", token, "--token", token),
        Row("in a number", "revoke", "-t", "x", "--max-attempts", token),
        Row("beside what is missing", "revoke", "--code", token),
        Row("beside a bad value", "revoke", "--code", token, "--token", "@"),
        Row("a key in armour", "revoke", "--token", "-----BEGIN PRIVATE KEY-----\n\(token)"),
        Row("a key in armour as a flag", "revoke", "-----BEGIN PRIVATE KEY-----\n\(token)"),
    ]

    @Test(arguments: rows) func `no error contains the token`(_ row: Row) {
        let error = #expect(throws: UsageError.self) { try sampleTool.parse(row.line) }
        guard let error else { return }
        var dumped = ""
        dump(error, to: &dumped)
        let shown = [error.message, "\(error)", String(reflecting: error), dumped] + error.hints
        #expect(!Self.pieces.contains { shown.joined().contains($0) })
    }

    /// Not only the whole token: a message may cut what it shows.
    private static let pieces = [token, plain].flatMap { token in
        token.indices.dropLast(5).map { token[$0...].prefix(6) }
    }

    @Test(arguments: [
        SecretArgument.literal(token), .file(token), .environment(token), .standardInput,
    ])
    func `no secret argument shows its content`(_ argument: SecretArgument) {
        let form = argument.argumentDescription
        var dumped = ""
        dump(argument, to: &dumped)
        #expect("\(argument)" == form)
        #expect(String(reflecting: argument) == form)
        #expect(!dumped.contains(Self.token))
        #expect(Mirror(reflecting: argument).children.isEmpty)
    }

    @Test func `no parsed command shows its secrets`() throws {
        let invocation = try sampleTool.parse(["revoke", "-t", Self.token, "--code", Self.token])
        var dumped = ""
        dump(invocation, to: &dumped)
        #expect(!"\(invocation) \(dumped)".contains(Self.token))
    }
}
