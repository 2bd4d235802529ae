import Foundation
import SIWACommandTable
import Testing

@Suite struct ParameterTests {
    struct Everything {
        var flag = false
        var defaulted = 3
        var optional: KeyFormat?
        var repeating = ["a", "b"]
        @Required var required: SecretArgument
    }

    struct Row: CustomTestStringConvertible {
        let parameter: Parameter<Everything>
        let expected: String
        var testDescription: String { parameter.info.label }
    }

    static let rows = [
        Row(parameter: .flag("flag", short: "f", \.flag, help: "H."), expected: "f flag optional"),
        Row(
            parameter: .option("defaulted", \.defaulted, value: "N", help: "H."),
            expected: "option defaulted =3"),
        Row(
            parameter: .option("optional", \.optional, value: "F", help: "H."),
            expected: "option optional pem|jwk|der-base64"),
        Row(
            parameter: .option("repeating", \.repeating, value: "X", help: "H."),
            expected: "option repeating =a, b"),
        Row(
            parameter: .option("required", \.$required, value: "X", help: "H."),
            expected: "option required secret"),
        Row(
            parameter: .operand("DEFAULTED", \.defaulted, help: "H."),
            expected: "operand defaulted =3"),
        Row(
            parameter: .operand("OPTIONAL", \.optional, help: "H."),
            expected: "operand optional pem|jwk|der-base64"),
        Row(
            parameter: .operand("REPEATING", \.repeating, help: "H."),
            expected: "operand repeating =a, b"),
        Row(
            parameter: .operand("REQUIRED", \.$required, help: "H."),
            expected: "operand required secret"),
    ]

    @Test(arguments: rows) func `a parameter's properties follow from the type of its property`(
        _ row: Row
    ) {
        #expect(Self.summary(row.parameter.info(for: Everything())) == row.expected)
    }

    @Test(arguments: rows) func `a parameter's description is decoded unchanged`(_ row: Row) throws
    {
        let info = row.parameter.global().info(for: Everything())
        let data = try JSONEncoder().encode(info)
        #expect(try JSONDecoder().decode(ParameterInfo.self, from: data) == info)
    }

    @Test func `a shared group keeps its default values`() {
        struct Holder { var group = Everything(defaulted: 7) }
        let parameter: Parameter<Everything> = .option(
            "defaulted", \.defaulted, value: "N", help: "H.")
        let shared: Parameter<Holder> = parameter.rerooted(at: \.group)
        #expect(shared.info(for: Holder()).defaultValue == "7")
    }

    private static func summary(_ info: ParameterInfo) -> String {
        [
            info.short, info.kind.rawValue, info.arity.rawValue, info.isSecret ? "secret" : nil,
            info.choices.isEmpty ? nil : info.choices.joined(separator: "|"),
            info.defaultValue.map { "=\($0)" },
        ].compactMap(\.self).joined(separator: " ")
    }
}
