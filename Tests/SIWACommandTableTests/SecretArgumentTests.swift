import SIWACommandTable
import Testing

@Suite struct SecretArgumentTests {
    static let forms: [(String, SecretArgument)] = [
        ("abc", .literal("abc")),
        ("-", .standardInput),
        ("--", .literal("--")),
        ("@file", .file("file")),
        ("@-", .file("-")),
        ("@@", .file("@")),
        ("@env", .file("env")),
        ("@env:NAME", .environment("NAME")),
        ("@ENV:NAME", .file("ENV:NAME")),
        ("@./env:NAME", .file("./env:NAME")),
        ("a@b", .literal("a@b")),
        (" ", .literal(" ")),
    ]

    @Test(arguments: forms) func `every form of a secret argument is parsed`(
        _ argument: String, _ expected: SecretArgument
    ) {
        #expect(SecretArgument(argument: argument) == expected)
    }

    @Test(arguments: ["", "@", "@env:"]) func `an empty value is refused`(_ argument: String) {
        #expect(SecretArgument(argument: argument) == nil)
    }

    @Test func `only a hyphen selects standard input`() {
        let readers = Self.forms.filter { $0.1.readsStandardInput }.map(\.0)
        #expect(readers == ["-"])
    }
}
