/// A type whose values are typed as one argument.
///
/// A `CaseIterable` enum over `String` needs only to declare the conformance; its cases become the
/// choices in messages, help and completions.
package protocol ParameterValue: Sendable {
    /// Reads one argument; nil refuses it.
    init?(argument: String)

    /// The only values there are; empty when there is no such list.
    static var choices: [String] { get }

    /// How a value begins, where it may be left out: `--vault` alone, or `--vault sqlite:PATH`. Left
    /// out, it is read as the empty text.
    static var valuePrefixes: [String] { get }

    /// Whether values must never be shown, not even in the message that refuses one.
    static var isSecret: Bool { get }

    /// What a value must be, to end the sentence "--timeout needs …".
    static var expectation: String { get }

    /// How help shows this value when it is a default.
    var argumentDescription: String { get }

    /// Whether the program will read standard input to learn the value.
    ///
    /// The parser accepts one such value a command, because standard input can be read only once.
    var readsStandardInput: Bool { get }
}

extension ParameterValue {
    /// Any value.
    package static var choices: [String] { [] }

    /// The value must be there.
    package static var valuePrefixes: [String] { [] }

    /// Not secret.
    package static var isSecret: Bool { false }

    /// "one of" the choices, or no more than "a valid value".
    package static var expectation: String {
        choices.isEmpty ? "a valid value" : "one of \(choices.joined(separator: ", "))"
    }

    /// Does not read standard input.
    package var readsStandardInput: Bool { false }
}

extension ParameterValue where Self: CaseIterable & RawRepresentable, RawValue == String {
    /// The case of that name.
    package init?(argument: String) { self.init(rawValue: argument) }

    /// The names of the cases, in the order of their declaration.
    package static var choices: [String] { allCases.map(\.rawValue) }

    /// The name of the case.
    package var argumentDescription: String { rawValue }
}

extension String: ParameterValue {
    /// Any text.
    package init(argument: String) { self = argument }

    /// Any text will do.
    package static var expectation: String { "text" }

    /// The text.
    package var argumentDescription: String { self }
}

extension Int: ParameterValue {
    /// A decimal number, with a sign or without.
    package init?(argument: String) { self.init(argument, radix: 10) }

    /// A decimal number.
    package static var expectation: String { "a whole number" }

    /// The number.
    package var argumentDescription: String { description }
}
