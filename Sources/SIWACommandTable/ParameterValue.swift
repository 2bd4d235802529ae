/// A type whose values are typed as one argument.
///
/// A `CaseIterable` enum over `String` needs only to declare the conformance; its cases become the
/// choices in messages, help and completions.
package protocol ParameterValue: Sendable {
    /// Reads one argument; nil if it is invalid.
    init?(argument: String)

    /// The only valid values; empty if there is no such list.
    static var choices: [String] { get }

    /// The possible beginnings of an optional value, as in `--vault` or `--vault sqlite:PATH`. An
    /// omitted value is read as the empty text.
    static var valuePrefixes: [String] { get }

    /// Whether values must never be shown, not even in the message that refuses one.
    static var isSecret: Bool { get }

    /// A description of valid values, as the end of the sentence "--timeout needs …".
    static var expectation: String { get }

    /// The value as help shows it as a default.
    var argumentDescription: String { get }

    /// Whether the program will read the value from standard input.
    ///
    /// The parser accepts one such value per command, because standard input can be read only once.
    var readsStandardInput: Bool { get }
}

extension ParameterValue {
    /// Any value.
    package static var choices: [String] { [] }

    /// The value is required.
    package static var valuePrefixes: [String] { [] }

    /// Not secret.
    package static var isSecret: Bool { false }

    /// "one of" the choices, or "a valid value".
    package static var expectation: String {
        choices.isEmpty ? "a valid value" : "one of \(choices.joined(separator: ", "))"
    }

    /// Does not read standard input.
    package var readsStandardInput: Bool { false }
}

extension ParameterValue where Self: CaseIterable & RawRepresentable, RawValue == String {
    /// The case with that name.
    package init?(argument: String) { self.init(rawValue: argument) }

    /// The names of the cases, in the order of their declaration.
    package static var choices: [String] { allCases.map(\.rawValue) }

    /// The name of the case.
    package var argumentDescription: String { rawValue }
}

extension String: ParameterValue {
    /// Any text.
    package init(argument: String) { self = argument }

    /// Any text.
    package static var expectation: String { "text" }

    /// The text as it is.
    package var argumentDescription: String { self }
}

extension Int: ParameterValue {
    /// A decimal number, with or without a sign.
    package init?(argument: String) { self.init(argument, radix: 10) }

    /// A decimal number.
    package static var expectation: String { "a whole number" }

    /// The number in decimal digits.
    package var argumentDescription: String { description }
}
